/** A process that writes documents and prints the number of each acknowledged one. */
import { writeSync } from 'node:fs';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { PROCESS_IDENTITY, type WriterTask } from './start-writer.ts';

const { directory, name, documents, startAt, rewrite } = JSON.parse(process.argv[2] ?? '') as WriterTask;
while (Date.now() < startAt) await new Promise(setImmediate);
const store = await createSqliteCatalog(directory).openOrCreate('book', PROCESS_IDENTITY);
for (let number = 0; number < documents; number += 1) {
  const place = rewrite === undefined ? number : number % rewrite;
  const chunks = Array.from(
    { length: 4 + (number % 3) },
    (_, index) => `${name} version${number} part${index}`,
  );
  await store.write([sampleDocument(`${name}-${place}`, PROCESS_IDENTITY.dimensions, { chunks })]);
  writeSync(1, `${number}\n`);
}
await store.settle();
await store.close();
