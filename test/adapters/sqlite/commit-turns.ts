import { createSqliteSessionStore } from '../../../src/adapters/sqlite/sqlite-session-store.ts';
import { sampleSession, sampleTurn } from '../../contracts/sample-sessions.ts';

/** A process that commits turns to its own session and prints the number of each committed turn. */
const [path = '', sessionId = '', turns = '0'] = process.argv.slice(2);
const store = createSqliteSessionStore(path);
let session = sampleSession({ sessionId });
await store.create(session, null);
for (let number = 1; number <= Number(turns); number += 1) {
  const next = sampleTurn(session, { answer: 'word '.repeat(500) });
  await store.commitTurn(next.session, next.messages, next.turn);
  process.stdout.write(`${number}\n`);
  session = next.session;
}
await store.close();
