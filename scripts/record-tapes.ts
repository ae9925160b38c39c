import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVED_MODEL, startOfflineModelServer } from '../test/support/offline-model-server.ts';
import { startQdrant } from '../test/support/qdrant-server.ts';
import { runCli } from '../test/support/run-cli.ts';

/*
 * Records the tapes of `fixtures/tapes` again, with the offline model behind a local server and a Qdrant server. Run it
 * after an intended change of the program's requests and after `npm run build`.
 */

const ROOT = join(import.meta.dirname, '..');
const TAPES = join(ROOT, 'fixtures/tapes');
const BOOK = join(ROOT, 'fixtures/book');
const CHAPTERS = ['ros2/01-ros2-overview.md', 'ros2/02-nodes-topics-and-messages.md'];

const home = await mkdtemp(join(tmpdir(), 'citeloop-tapes-'));
const [qdrant, model] = await Promise.all([startQdrant(), startOfflineModelServer()]);
try {
  for (const chapter of CHAPTERS) await cp(join(BOOK, chapter), join(home, 'docs', chapter));
  await run('ingest', 'docs', '--base-url', 'https://book.example/', '--collection', 'book');
  const served = ['--collection', 'book', '--base-url', model.url, '--model', SERVED_MODEL];
  const question = 'What is ROS 2?';
  for (const [api, name] of [
    ['chat_completions', 'chat'],
    ['responses', 'responses'],
  ] as const) {
    await record(`served-${name}`, ['ask', question, ...served, '--api', api]);
  }
  await record('served-session', ['chat', ...served], `${question}\nHow do nodes communicate?\n`);
  await record('search', ['search', question, '--collection', 'book']);
} finally {
  await model.close();
  await qdrant.stop();
  await rm(home, { recursive: true });
}

async function record(name: string, args: readonly string[], input = ''): Promise<void> {
  const tape = join(TAPES, `${name}-qdrant.tape.json`);
  await run(...args, '--record', tape, { input });
  process.stdout.write(`${tape}\n`);
}

async function run(...given: Array<string | { input: string }>): Promise<void> {
  const args = given.filter((each) => typeof each === 'string');
  const input = given.map((each) => (typeof each === 'string' ? '' : each.input)).join('');
  const { code, stderr } = await runCli(args, { home, input, env: { QDRANT_URL: qdrant.url } });
  if (code !== 0) throw new Error(`citeloop ${args.join(' ')} exited with code ${code}:\n${stderr}`);
}
