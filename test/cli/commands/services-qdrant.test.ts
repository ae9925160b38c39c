import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QdrantClient } from '@qdrant/js-client-rest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { neverRespond, startFaultyServer } from '../../support/faulty-server.ts';
import {
  createStorageDirectory,
  type QdrantProcess,
  startOrSkip,
  startQdrant,
} from '../../support/qdrant-server.ts';
import { type CliOptions, runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'planted-qdrant-key-0123456789';
const QUESTION = 'When does an owl hunt?';

/** A server with a key that the test can stop and start again with the same data. */
const firstServer = await startOrSkip(async () => {
  const server = await startQdrant();
  await server.stop();
  return true;
});

async function server(): Promise<QdrantProcess & { again(): Promise<QdrantProcess> }> {
  const directory = await createStorageDirectory();
  const options = { directory, apiKey: KEY };
  const started = await startQdrant(options);
  const all = [started];
  onTestFinished(async () => {
    for (const each of all) await each.kill();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    ...started,
    async again() {
      const ports = { http: Number(new URL(started.url).port), grpc: 0 };
      const next = await startQdrant({ ...options, ports });
      all.push(next);
      return next;
    },
  };
}

/** A home directory with two documents; no output may contain the key. */
async function machine(env: Record<string, string>) {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs', 'birds'), { recursive: true });
  await writeFile(
    join(home, 'docs', 'birds', 'owl.md'),
    '# Owls\n\nAn owl hunts at night. It sees well in the dark.',
  );
  await writeFile(join(home, 'docs', 'zebra.md'), '# Zebras\n\nA zebra has stripes and eats grass all day.');
  return async (args: string[], onStart?: CliOptions['onStart']) => {
    const result = await (onStart === undefined
      ? runInProcess(args, { home, env })
      : runCli(args, { home, env, onStart, keepInputOpen: true }));
    expect(result.stdout + result.stderr).not.toContain('planted');
    return result;
  };
}

const at = ({ url }: { url: string }, key = KEY) => ({ QDRANT_URL: url, QDRANT_API_KEY: key });

describe.skipIf(firstServer === null)('commands on a Qdrant server', () => {
  test('ingest, search, ask, list, show, check and delete', async () => {
    const run = await machine(at(await server()));
    expect(JSON.parse((await run(['ingest', 'docs', '-c', 'web_documents', '--json'])).stdout)).toMatchObject(
      {
        added: 2,
        failed: [],
      },
    );
    expect(JSON.parse((await run(['ingest', 'docs', '-c', 'web_documents', '--json'])).stdout)).toMatchObject(
      { unchanged: 2 },
    );

    const { chunks } = JSON.parse((await run(['search', QUESTION, '--json'])).stdout);
    expect(chunks[0]).toMatchObject({ title: 'Owls', module: 'birds' });
    const answer = JSON.parse((await run(['ask', QUESTION, '--json'])).stdout);
    expect(answer).toMatchObject({ grounded: true, error: null });
    expect(answer.answer).toContain('An owl hunts at night');

    const { collections } = JSON.parse((await run(['collections', '--json'])).stdout);
    expect(collections).toMatchObject([{ name: 'web_documents', documents: 2, chunks: 2, dimensions: 384 }]);
    expect((await run(['collections', 'show', 'web_documents'])).stdout).toMatch(/birds +1/);

    const doctor = await run(['doctor', '--json']);
    expect(doctor.code).toBe(0);
    const details = Object.fromEntries(
      JSON.parse(doctor.stdout).checks.map(({ name, detail }: { name: string; detail: string }) => [
        name,
        detail,
      ]),
    );
    expect(details.store).toMatch(/^Qdrant at 127\.0\.0\.1:\d+, 1 collection$/);
    expect(details['collection web_documents']).toBe('2 documents, 2 chunks, intact');

    expect((await run(['collections', 'delete', 'web_documents', '--yes'])).code).toBe(0);
    expect((await run(['collections', '--json'])).stdout).toBe('{"collections":[]}\n');
  });

  test('copies a collection to the server and back with the same search results', async () => {
    const run = await machine(at(await server()));
    const found = async (...where: string[]) => {
      const { chunks } = JSON.parse(
        (await run(['search', QUESTION, '--json', '--threshold', '0', ...where])).stdout,
      );
      return chunks.map(({ chunkId, score, text }: Record<string, unknown>) => [
        chunkId,
        Number(score).toFixed(4),
        text,
      ]);
    };
    await run(['ingest', 'docs', '--store', 'sqlite', '--collection', 'mine']);
    const there = await run(['collections', 'copy', 'sqlite:mine', 'qdrant:mine', '--json']);
    expect(JSON.parse(there.stdout)).toMatchObject({
      from: 'sqlite:mine',
      to: 'qdrant:mine',
      copied: 2,
      chunks: 2,
    });
    const again = await run(['collections', 'copy', 'sqlite:mine', 'qdrant:mine', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ copied: 0, unchanged: 2 });
    const back = await run(['collections', 'copy', 'qdrant:mine', 'sqlite:back']);
    expect(back).toMatchObject({
      code: 0,
      stdout: 'sqlite:back: 2 copied; 2 chunks written\n',
    });

    const original = await found('--store', 'sqlite', '--collection', 'mine');
    expect(original).toHaveLength(2);
    expect(await found('--collection', 'mine')).toEqual(original);
    expect(await found('--store', 'sqlite', '--collection', 'back')).toEqual(original);
  });

  test('reads a foreign collection with --payload-map', async () => {
    const { url } = await server();
    const client = new QdrantClient({ url, checkCompatibility: false, headers: { 'api-key': KEY } });
    await client.createCollection('theirs', { vectors: { size: 384, distance: 'Cosine' } });
    const body = 'An owl hunts at night. It sees well in the dark.';
    const vector = Array.from({ length: 384 }, (_, index) => Math.sin(index));
    const payload = { body, where: 'https://theirs.example/owls', heading: 'Their owls' };
    await client.upsert('theirs', { wait: true, points: [{ id: 1, vector, payload }] });

    const run = await machine(at({ url }));
    const map = ['--payload-map', 'text=body,url=where,title=heading'];
    const theirs = ['--collection', 'theirs', '--threshold', '0', '--json'];
    const { chunks } = JSON.parse((await run(['search', QUESTION, ...theirs, ...map])).stdout);
    expect(chunks).toMatchObject([{ text: body, url: 'https://theirs.example/owls', title: 'Their owls' }]);
    const unmapped = await run(['search', QUESTION, ...theirs]);
    expect(unmapped.code).toBe(3);
    expect(JSON.parse(unmapped.stdout).error.userMessage).toContain('payloadMap');
    const refused = await run(['ingest', 'docs', '--collection', 'theirs', '--json', ...map]);
    expect(refused.code).not.toBe(0);
    expect((await client.count('theirs')).count).toBe(1);
  });

  test('every command reports a wrong or missing key', async () => {
    const started = await server();
    const wrong = await machine(at(started, 'planted-wrong-key'));
    for (const args of [
      ['ingest', 'docs', '-c', 'web_documents'],
      ['search', 'owl'],
      ['ask', QUESTION],
      ['collections', 'list'],
    ]) {
      const { code, stderr } = await wrong([...args, '--verbose']);
      expect({ args, code }).toEqual({ args, code: 3 });
      expect(stderr).toContain('did not accept the key');
      expect(stderr).toContain('QDRANT_API_KEY');
    }
    const without = await (await machine({ QDRANT_URL: started.url }))(['ask', QUESTION, '--json']);
    expect(without.code).toBe(3);
    expect(JSON.parse(without.stdout).error).toMatchObject({
      errorType: 'auth_error',
      userMessage: expect.stringContaining('Set QDRANT_API_KEY'),
    });
    const doctor = await wrong(['doctor', '--json']);
    expect(doctor.code).toBe(3);
    expect(doctor.stdout).toContain('refuses the key');
  });

  test('reports a stopped or silent server with a hint', async () => {
    // Its timeout of ten seconds passes during the rest of the test.
    const { baseUrl } = await startFaultyServer(neverRespond);
    const ofTheSilent = await machine(at({ url: baseUrl }));
    const slow = ofTheSilent(['search', 'owl', '--json'], (child) => void child.stdin?.end());
    const started = await server();
    const run = await machine(at(started));
    await run(['ingest', 'docs', '-c', 'web_documents']);
    await started.kill();
    const dead = await run(['ask', QUESTION, '--verbose']);
    expect(dead).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('cannot be reached (ECONNREFUSED)'),
    });
    expect(dead.stderr).toContain('Start it or check QDRANT_URL');
    expect((await run(['doctor'])).code).toBe(3);

    await started.again();
    expect((await run(['ask', QUESTION])).stdout).toContain('An owl hunts at night');

    const { code, stdout } = await slow;
    expect(code).toBe(4);
    expect(JSON.parse(stdout).error.message).toContain('did not answer within 10 seconds');
  });

  test('a chat reports a stopped server and continues when it is back', async () => {
    const started = await server();
    const run = await machine(at(started));
    await run(['ingest', 'docs', '-c', 'web_documents']);
    let stdout = '';
    const said = (pattern: RegExp) => expect.poll(() => stdout).toMatch(pattern);
    let talking: Promise<void> = Promise.resolve();
    const { code, stderr } = await run(['chat', '--no-stream'], (child) => {
      child.stdout?.on('data', (text: string) => {
        stdout += text;
      });
      talking = (async () => {
        child.stdin?.write('When does an owl hunt?\n');
        await said(/hunts at night/);
        await started.kill();
        child.stdin?.write('What does a zebra eat?\n');
        await said(/The search failed/);
        await started.again();
        child.stdin?.write('Does a zebra have stripes?\n');
        await said(/has stripes/);
      })().finally(() => child.stdin?.end());
    });
    await talking;
    // The code of the failed question.
    expect(code).toBe(4);
    expect(stderr).toContain('cannot be reached');
  });

  test('reports an unknown collection with the known ones', async () => {
    const run = await machine(at(await server()));
    await run(['ingest', 'docs', '--collection', 'animals']);
    for (const args of [
      ['ask', QUESTION, '--collection', 'plants'],
      ['collections', 'show', 'plants'],
      ['collections', 'copy', 'plants', 'sqlite:plants'],
    ]) {
      const { code, stderr } = await run(args);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(stderr).toMatch(/collection .*plants[\s\S]*animals/);
    }
  });
});
