import { expect, test } from 'vitest';
import { createRecordingRuntime, createReplayRuntime } from '../../src/tape/tape-runtime.ts';

const at = '2026-01-02T03:04:05.678Z';
const clock = { now: () => new Date(at), elapsedMs: () => 42, newId: () => 'not this one' };
const idsOf = ({ newId }: { newId: () => string }) => [newId(), newId(), newId()];

test('a recording and its replays generate the same ids from a seed', () => {
  const recorded = idsOf(createRecordingRuntime('seed', clock));
  expect(idsOf(createReplayRuntime('seed', at))).toEqual(recorded);
  expect(idsOf(createReplayRuntime('other', at))).not.toEqual(recorded);
  expect(new Set(recorded).size).toBe(3);
  for (const id of recorded)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

test('the clock of a replay stands still, a recording uses the given clock', async () => {
  const replay = createReplayRuntime('seed', at);
  expect([replay.now().toISOString(), replay.elapsedMs(), replay.random?.()]).toEqual([at, 0, 0.5]);
  const recording = createRecordingRuntime('seed', clock);
  expect([recording.now().toISOString(), recording.elapsedMs()]).toEqual([at, 42]);
  // Returns at once.
  await replay.sleep?.(600_000, undefined);
  await expect(replay.sleep?.(1, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
});
