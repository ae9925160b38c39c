/** A process that replaces one document again and again and prints the number of each acknowledged version. */
import { writeSync } from 'node:fs';
import { createQdrantCatalog } from '../../../src/adapters/qdrant/qdrant-catalog.ts';
import { versionOf, WRITER_IDENTITY, type WriterTask } from './writer-task.ts';

const { name, versions, ...options } = JSON.parse(process.argv[2] ?? '') as WriterTask;
const store = await createQdrantCatalog(options).openOrCreate('book', WRITER_IDENTITY);
for (let version = 1; version <= versions; version += 1) {
  await store.write([versionOf(name, version)]);
  writeSync(1, `${version}\n`);
}
await store.close();
