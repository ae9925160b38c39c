import { expect, test } from 'vitest';
import { splitPassageUnits } from '../../src/text/passage-units.ts';

function unitsIn(text: string) {
  return splitPassageUnits(text).map(({ kind, start, end, leadIn }) => ({
    kind,
    text: text.slice(start, end),
    leadIn: leadIn && text.slice(leadIn.start, leadIn.end),
  }));
}

test('gives a sentence the one it refers back to as its lead-in', () => {
  expect(unitsIn('A node computes, e.g. a path. It talks to others.')).toEqual([
    { kind: 'sentence', text: 'A node computes, e.g. a path.', leadIn: null },
    { kind: 'sentence', text: 'It talks to others.', leadIn: 'A node computes, e.g. a path.' },
  ]);
});

test('gives code its introducing sentence as lead-in, past a file name', () => {
  const code = '```sh\ngz sim\n```';
  expect(unitsIn(`Start the simulator:\n\nstart.sh\n\n${code}`).at(-1)).toEqual({
    kind: 'code',
    text: code,
    leadIn: 'Start the simulator:',
  });
});

test('gives a row the table header as lead-in', () => {
  const head = '| Bus | Rate |\n| --- | --- |';
  expect(unitsIn(`${head}\n| CAN | 1 Mbit/s |`)).toEqual([
    { kind: 'row', text: '| CAN | 1 Mbit/s |', leadIn: head },
  ]);
});

test('gives items the introduction of their list, and groups numbered ones as steps with their code', () => {
  const text = 'Remove it:\n\n1. Stop the service.\n\n```sh\nstop it\n```\n\n2. Delete the file.';
  expect(unitsIn(text).map(({ kind, leadIn }) => ({ kind, leadIn }))).toEqual([
    { kind: 'sentence', leadIn: null },
    { kind: 'steps', leadIn: 'Remove it:' },
    { kind: 'item', leadIn: 'Remove it:' },
    { kind: 'code', leadIn: 'Stop the service.' },
    { kind: 'item', leadIn: 'Remove it:' },
  ]);
  expect(unitsIn(text)[1]?.text).toBe(text.slice(text.indexOf('1.')));
});
