import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent } from '../../src/agent/agent.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import { type RecordingResult, recordRun } from '../../src/tape/record-run.ts';
import { type ReplayRunOptions, replayRun } from '../../src/tape/replay-run.ts';
import type { TapeHeader } from '../../src/tape/tape-format.ts';
import { sampleSession } from '../contracts/sample-sessions.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { jsonExchange, postJson, sampleHeader, writeTape } from './support/sample-tape.ts';

const madeBy = { program: 'citeloop', version: '9.9.9', node: 'v99' };
const clock = { now: () => new Date(), elapsedMs: () => 0, newId: () => 'none' };

function options(path: string, changes: Partial<ReplayRunOptions> = {}): ReplayRunOptions {
  return {
    path,
    secrets: [],
    signal: new AbortController().signal,
    missEnds: 'run',
    renewedBy: madeBy,
    ...changes,
  };
}

const small = () => writeTape([jsonExchange(1, { q: 'a' }, { a: 1 })]);

test('runs the work with the settings, clock and ids of the recording and returns its value', async () => {
  const header = sampleHeader({ inputs: { settings: { topK: 3, collection: 'old' } } });
  const outputs = { collection: { name: 'docs', documents: 1, fingerprint: 'f' } };
  const path = await writeTape([jsonExchange(1, { q: 'a' }, { a: 1 })], { header, outputs });
  const outcome = await replayRun(options(path), async (run) => {
    expect(run).toMatchObject({
      path,
      header: { command: 'ask' },
      settings: { topK: 3, collection: 'docs' },
    });
    expect(run.runtime.now().toISOString()).toBe(header.createdAt);
    return (await postJson({ q: 'a' })).json();
  });
  expect(outcome).toMatchObject({
    result: { value: { a: 1 } },
    misses: [],
    exchanges: { recorded: 1, used: 1, repeated: 0, missed: 0 },
    renewed: false,
  });
});

test('a miss aborts the run and is the result, whatever the work does with it', async () => {
  const outcome = await replayRun(options(await small()), async ({ signal }) => {
    await postJson({ q: 'b' }).catch(() => {});
    expect(signal.aborted).toBe(true);
    throw new Error('something else');
  });
  expect(outcome.result).toMatchObject({ missed: { kind: 'replay_drift' } });
  const swallowed = await replayRun(options(await small()), async () => {
    await postJson({ q: 'b' }).catch(() => {});
    return 'as if nothing was';
  });
  expect(swallowed).toMatchObject({ result: { missed: {} }, misses: [{ kind: 'replay_drift' }] });
});

test('a miss can abort only its turn', async () => {
  const aborted: boolean[] = [];
  await replayRun(options(await small(), { missEnds: 'turn' }), async ({ signal, tape }) => {
    const agent = tape.observe(askingAgent(aborted));
    const session = await agent.startSession();
    for (const question of ['b', 'a']) for await (const _ of session.ask(question, { signal }));
    expect(signal.aborted).toBe(false);
  });
  expect(aborted).toEqual([true, false]);
});

test('throws the error of the work if there was no miss or the user interrupted it', async () => {
  const broken = new Error('broken');
  const path = await small();
  await expect(replayRun(options(path), () => Promise.reject(broken))).rejects.toBe(broken);
  const user = new AbortController();
  await expect(
    replayRun(options(path, { signal: user.signal }), async () => {
      await postJson({ q: 'b' }).catch(() => {});
      user.abort();
      throw broken;
    }),
  ).rejects.toBe(broken);
  // Another replay can start.
  await expect(replayRun(options(path), async () => 1)).resolves.toMatchObject({ result: { value: 1 } });
});

test('rejects a tape of another command and an interrupted recording', async () => {
  const path = await small();
  await expect(replayRun(options(path, { command: 'search' }), async () => 1)).rejects.toMatchObject({
    message: `${path} was recorded by ask, not by search.`,
  });
  await expect(replayRun(options(path, { command: 'ask' }), async () => 1)).resolves.toBeDefined();
  const unnamed = await writeTape([], { header: sampleHeader({ command: null }) });
  await expect(replayRun(options(unnamed, { command: 'ask' }), async () => 1)).resolves.toBeDefined();

  const partial = await abandonedTape();
  await expect(replayRun(options(partial), async () => 1)).rejects.toThrow('its recording was interrupted');
});

test('rejects a tape with invalid outputs', async () => {
  const path = await writeTape([], { outputs: { turns: 'many' } });
  await expect(replayRun(options(path), async () => 1)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringContaining(`The "outputs" field of ${path} is not valid at turns`),
  });
});

test('an updated tape names the program that updated it and keeps its seed and time', async () => {
  const path = await small();
  const { header: before } = readTape(path);
  const outcome = await replayRun(options(path, { onMiss: 'record' }), async ({ tape }) => {
    await postJson({ q: 'b' }).catch(() => {});
    tape.outputs.ingest = { added: 1 };
  });
  expect(outcome).toMatchObject({ renewed: true, result: { value: undefined } });
  const renewed = readTape(path);
  expect(renewed.header).toEqual({ ...before, madeBy });
  expect(renewed.outputs).toMatchObject({ ingest: { added: 1 } });
});

test('a run that fails while its tape is updated leaves the tape unchanged', async () => {
  const path = await small();
  const before = await readFile(path, 'utf8');
  const failed = replayRun(options(path, { onMiss: 'record' }), async () => {
    await postJson({ q: 'b' }).catch(() => {});
    throw new AppError('api_error', 'The service is away.');
  });
  await expect(failed).rejects.toThrow('The service is away.');
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('records the outputs or the failure of a run, and abandons an interrupted one', async () => {
  const ends: RecordingResult[] = [];
  const record = async (work: () => Promise<unknown>, signal = new AbortController().signal) => {
    const path = join(await createTemporaryDirectory(), 'run.tape.json');
    const run = {
      path,
      header: sampleHeader(),
      secrets: [],
      clock,
      signal,
      onEnd: (e: RecordingResult) => ends.push(e),
    };
    return { path, result: await recordRun(run, work).catch((error: Error) => error.message) };
  };
  const whole = await record(async () => 'done');
  const failed = await record(() => Promise.reject(new AppError('api_error', 'It is away.')));
  const defect = await record(() => Promise.reject(new Error('defect')));
  const stopped = await record(() => Promise.reject(new AppError('interrupted', 'Stopped.')));
  const user = new AbortController();
  const aborted = await record(async () => {
    user.abort();
    throw new AppError('api_error', 'cut');
  }, user.signal);
  expect([whole, failed, defect, stopped, aborted].map(({ result }) => result)).toEqual([
    'done',
    'It is away.',
    'defect',
    'Stopped.',
    'cut',
  ]);
  expect(ends).toEqual([
    { type: 'recorded', path: whole.path, exchanges: 0, failed: false, unchanged: false },
    { type: 'recorded', path: failed.path, exchanges: 0, failed: true, unchanged: false },
    ...[defect, stopped, aborted].map(({ path }) => ({ type: 'abandoned', partialPath: `${path}.partial` })),
  ]);
  expect(readTape(whole.path).outputs).toMatchObject({ error: null });
  expect(readTape(failed.path).outputs).toMatchObject({ error: { message: 'It is away.' } });
  expect(readTape(`${defect.path}.partial`).complete).toBe(false);
});

async function abandonedTape(header: TapeHeader = sampleHeader()): Promise<string> {
  const path = join(await createTemporaryDirectory(), 'cut.tape.json');
  const signal = AbortSignal.abort();
  const run = { path, header, secrets: [], clock, signal, onEnd: () => {} };
  await recordRun(run, () => Promise.reject(new AppError('interrupted', 'Stopped.'))).catch(() => {});
  return `${path}.partial`;
}

/** Sends each question to the service of the tape and notes whether its turn was aborted. */
function askingAgent(aborted: boolean[]): Agent {
  const startSession: Agent['startSession'] = async () => ({
    id: 's',
    snapshot: () => sampleSession({ model: 'm' }),
    lastTurn: () => null,
    complete: async () => {},
    reset: async () => {},
    async *ask(question, { signal } = {}) {
      await postJson({ q: question }).catch(() => {});
      aborted.push(signal?.aborted ?? false);
    },
  });
  return { ...({} as Agent), startSession, resumeSession: () => startSession() };
}
