import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runInProcess } from '../../support/run-in-process.ts';
import { createSmallHome, serveOfflineModel } from '../../support/serve-offline-model.ts';

const ask = ['ask', 'What is a node?', '--collection', 'small'];

/** A model that answers without a search. */
async function otherModel(): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: { content: 'No idea.' } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test('records an unchanged file again, and tape diff and tape renew report what changed', async () => {
  const place = await createSmallHome();
  const { flags, stop, url } = await serveOfflineModel();
  const record = [...ask, ...flags, '--record', 'a.tape.json'];
  expect(await runInProcess(record, place)).toMatchObject({ code: 0 });
  const file = (name: string) => join(place.home, name);
  const first = await readFile(file('a.tape.json'), 'utf8');
  const again = await runInProcess(record, place);
  expect(again.stderr).toContain('Recorded 3 exchanges');
  expect(await readFile(file('a.tape.json'), 'utf8')).toBe(first);

  await runInProcess([...ask, ...flags, '--record', 'b.tape.json'], place);
  const same = await runInProcess(['tape', 'diff', 'a.tape.json', 'b.tape.json'], place);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('same (3 and 3 calls)') });
  await runInProcess([...ask, ...flags, '--top-k', '1', '--record', 'b.tape.json'], place);
  const other = await runInProcess(['tape', 'diff', 'a.tape.json', 'b.tape.json'], place);
  expect(other).toMatchObject({ code: 7, stdout: expect.stringContaining('settings.topK: 5 -> 1') });

  const renew = ['tape', 'renew', 'a.tape.json', '--base-url'];
  const unchanged = await runInProcess([...renew, url], place);
  expect(unchanged).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Repeated 3 calls: all as recorded'),
  });
  await stop();
  const elsewhere = await otherModel();
  const drifted = await runInProcess([...renew, elsewhere, '--json'], place);
  expect(drifted.code).toBe(7);
  const kinds = JSON.parse(drifted.stdout).asked.map(({ changes }: { changes: { kind: string }[] }) =>
    changes.map(({ kind }) => kind),
  );
  expect(kinds[0]).toContain('tool-choice');
  expect(kinds.at(-1)).toContain('citations');
  const unnamed = await runInProcess(['tape', 'renew', 'a.tape.json'], place);
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('is not configured here') });
});

test('a replay names the first different turn and the changed setting, with flags and with --current', async () => {
  const place = await createSmallHome();
  const { flags, stop } = await serveOfflineModel();
  await runInProcess([...ask, ...flags, '--record', 'a.tape.json'], place);
  await stop();
  const fewer = await runInProcess(['replay', 'a.tape.json', '--top-k', '1'], place);
  expect(fewer.code).toBe(7);
  expect(fewer.stdout).toContain('First difference at turn 1. Likely reason: topK is 1 (recorded: 5).');
  expect(fewer.stdout).not.toContain('the collection changed');

  expect(await runInProcess(['replay', 'a.tape.json', '--current'], place)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('same'),
  });
  await writeFile(join(place.home, 'citeloop.config.json'), JSON.stringify({ systemPrompt: 'Be brief.' }));
  expect(await runInProcess(['replay', 'a.tape.json'], place)).toMatchObject({ code: 0 });
  const edited = await runInProcess(['replay', 'a.tape.json', '--current', '--json'], place);
  expect(edited.code).toBe(7);
  expect(JSON.parse(edited.stdout).tapes[0]).toMatchObject({
    ok: false,
    firstDifferentTurn: 1,
    reason: 'systemPrompt changed',
    changed: { systemPrompt: 'Be brief.' },
  });
});
