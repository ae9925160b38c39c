import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { createModelDirectory } from '../../support/model-directory.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** A rerank service that keeps the order. */
async function startReranker(): Promise<string> {
  const server = createServer(async (request, response) => {
    const { documents } = (await json(request)) as { documents: string[] };
    const results = documents.map((_, index) => ({ index, relevance_score: 0.9 - index / 100 }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'r', results, meta: { api_version: { version: '2' } } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('checks the answers of a reranked arm in the same way, with a local embedder', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs/chess.md'), '# Chess\n\nA bishop moves diagonally over the board.\n');
  await writeFile(join(home, 'docs/bread.md'), '# Bread\n\nBread is baked from flour and water.\n');
  await writeFile(
    join(home, 'cases.jsonl'),
    '{"id":"bishop","question":"How does a bishop move?","expectedPhrases":["diagonally"]}\n',
  );
  const env = { COHERE_API_KEY: 'a-test-key', COHERE_BASE_URL: await startReranker() };
  const embedder = ['--embedder', `onnx:${await createModelDirectory()}`, '--collection', 'own'];
  const run = (...args: string[]) => runInProcess([...args, ...embedder], { home, env });
  expect((await run('ingest', 'docs')).code).toBe(0);
  expect(await run('compare', 'cases.jsonl', '--rerank', 'off,on', '--json', 'out.json')).toMatchObject({
    code: 0,
    stderr: '',
  });
  const { arms, cases } = reportDataSchema.parse(JSON.parse(readFileSync(join(home, 'out.json'), 'utf8')));
  expect(arms.map(({ settings }) => settings?.rerank)).toEqual([false, true]);
  const sentences = arms.map(({ name }) => cases[0]?.results[name]?.runs[0]?.sentences[0]);
  expect(sentences[1]).toEqual(sentences[0]);
});
