// Runs in each worker before every test file.

/** Exits when the parent process is gone. */
function endWithoutParent(): void {
  process.exit(1);
}

if (!process.listeners('disconnect').some(({ name }) => name === endWithoutParent.name))
  process.once('disconnect', endWithoutParent);
