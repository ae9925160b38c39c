import { expect, test } from 'vitest';
import { AppError } from '../../src/faults/app-error.ts';
import { compareReplay } from '../../src/tape/compare-replay.ts';
import { EMPTY_REPLAY_CONTEXT } from '../../src/tape/explain-drift.ts';
import type { ReplayOutcome } from '../../src/tape/replay-run.ts';
import type { OnMiss } from '../../src/tape/replay-tape.ts';
import { emptyRunOutputs, runOutputsSchema } from '../../src/tape/run-outputs.ts';
import { sampleHeader } from './support/sample-tape.ts';

const outputs = (...turns: object[]) =>
  runOutputsSchema.parse({
    turns: turns.map((each, index) => ({ question: `${index}`, model: 'm', answer: 'a', ...each })),
  });
const drift = {
  errorType: 'replay_drift',
  message: 'gone',
  userMessage: 'gone',
  retryAfter: null,
  recoverable: false,
};
const cut = { answer: null, error: drift };
const miss = new AppError('replay_drift', 'It is not on the tape.', { hint: 'Record it.' });

function compared(
  outcome: Partial<Omit<ReplayOutcome<unknown>, 'result'>>,
  { changed = {}, onMiss = 'fail' }: { changed?: Record<string, string>; onMiss?: OnMiss } = {},
) {
  const whole = {
    header: sampleHeader(),
    recorded: emptyRunOutputs(),
    outputs: emptyRunOutputs(),
    misses: [],
    missReason: null,
    context: EMPTY_REPLAY_CONTEXT,
    exchanges: { recorded: 1, used: 1, repeated: 0, missed: 0 },
    renewed: false,
    ...outcome,
  };
  return compareReplay(whole, { tape: 'a.tape.json', changed, onMiss });
}

test('a run with the same outputs is ok', () => {
  const same = { recorded: outputs({}, {}), outputs: outputs({}, {}) };
  expect(compared(same)).toMatchObject({ ok: true, turns: 2, firstDifferentTurn: null, differences: [] });
});

test('a run with another number of turns is not ok', () => {
  const short = compared({ recorded: outputs({}, {}), outputs: outputs({}) });
  expect(short).toMatchObject({
    ok: false,
    turns: 2,
    firstDifferentTurn: 2,
    differences: [{ path: 'turn 2' }],
  });
  const long = compared({ recorded: outputs({}), outputs: outputs({}, {}) });
  expect(long).toMatchObject({ ok: false, turns: 1, firstDifferentTurn: 2 });
});

test('finds the first turn that differs, also after the ninth', () => {
  const turns = Array.from({ length: 11 }, () => ({}));
  const changed = turns.map((_, index) => (index >= 9 ? { answer: 'b' } : {}));
  const parted = compared({ recorded: outputs(...turns), outputs: outputs(...changed) });
  expect(parted.firstDifferentTurn).toBe(10);
});

test('a miss is not ok, and the turn that it cut off is not compared', () => {
  const result = compared({
    recorded: outputs({}, {}),
    outputs: outputs(cut, { answer: 'b' }),
    misses: [miss],
  });
  expect(result).toMatchObject({
    ok: false,
    live: false,
    firstDifferentTurn: 1,
    differences: [{ path: 'turn 2.answer' }],
    missing: [{ message: 'It is not on the tape.', hint: 'Record it.' }],
  });
  expect(compared({ misses: [new AppError('replay_drift', 'x')] }).missing).toEqual([
    { message: 'x', hint: '' },
  ]);
});

test('a miss that the live service answered is ok if the outputs are the same', () => {
  const same = { recorded: outputs({}), outputs: outputs({}), misses: [miss] };
  expect(compared(same, { onMiss: 'passthrough' })).toMatchObject({ ok: true, live: true });
  const other = { ...same, outputs: outputs({ answer: 'b' }) };
  expect(compared(other, { onMiss: 'record' })).toMatchObject({ ok: false, live: true });
  const failed = { ...same, outputs: outputs(cut) };
  expect(compared(failed, { onMiss: 'passthrough' })).toMatchObject({ ok: false, live: false });
});

test('a run with changed settings may differ, but all its requests must be answered', () => {
  const changed = { policy: 'always' };
  const parts = { recorded: outputs({}), outputs: outputs({ answer: 'b' }) };
  expect(compared(parts, { changed })).toMatchObject({ ok: true, firstDifferentTurn: 1, changed });
  expect(compared({ ...parts, misses: [miss] }, { changed }).ok).toBe(false);
  expect(compared({ ...parts, misses: [miss] }, { changed, onMiss: 'passthrough' }).ok).toBe(true);
});
