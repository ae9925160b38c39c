import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { createSqliteSessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { messageOf } from '../../../src/faults/app-error.ts';
import { createRedactor } from '../../../src/faults/redactor.ts';
import { createTapeWriter } from '../../../src/tape/tape-writer.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { sampleSession } from '../../contracts/sample-sessions.ts';
import { sampleHeader } from '../../tape/support/sample-tape.ts';

/** Fills the disk of a directory, reads and writes as a user would, and prints the outcomes as JSON. */
const [, , directory = ''] = process.argv;
const filler = join(directory, 'filler');
const tape = join(directory, 'run.tape.json');

function fillDisk(): void {
  const file = openSync(filler, 'a');
  for (const size of [4096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch {
      // Full for pieces of this size.
    }
  }
  closeSync(file);
}

async function record(): Promise<string> {
  const writer = createTapeWriter({ path: tape, header: sampleHeader(), redactor: createRedactor() });
  await writer.close(null);
  return 'recorded';
}

const catalog = createSqliteCatalog(directory);
const book = await catalog.openOrCreate('book', { embedder: 'test', dimensions: 8 });
await book.write([sampleDocument('a', 8, { chunks: ['zebra'] })]);
await book.close();
await record();
fillDisk();
const reader = await catalog.open('book');
const outcomes = {
  found: (await reader?.search({ text: 'zebra', vector: null, limit: 1, filter: {} }))?.length,
  write: await reader?.write([sampleDocument('b', 8, { chunks: ['walrus'] })]).catch(messageOf),
  session: await createSqliteSessionStore(join(directory, 'sessions.sqlite'))
    .create(sampleSession(), null)
    .catch(messageOf),
  tape: await record().catch(messageOf),
  tapes: readdirSync(directory).filter((name) => name.includes('.tape.json')),
};
rmSync(filler);
process.stdout.write(JSON.stringify({ ...outcomes, later: await record() }));
