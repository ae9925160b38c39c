// Run by each worker before the tests of every file.

/** A worker whose parent is gone has nobody to tell how its tests went. */
function endWithoutParent(): void {
  process.exit(1);
}

if (!process.listeners('disconnect').some(({ name }) => name === endWithoutParent.name))
  process.once('disconnect', endWithoutParent);
