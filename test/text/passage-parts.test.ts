import { expect, test } from 'vitest';
import { splitPassageParts } from '../../src/text/passage-parts.ts';

function partsIn(text: string) {
  return splitPassageParts(text).map(({ kind, start, end }) => ({ kind, text: text.slice(start, end) }));
}

test('splits a passage into paragraphs, labels, items and code', () => {
  const code = '```sh\ngz sim\n```';
  expect(partsIn(`Start the simulator:\n\nstart.sh\n\n${code}\n\n1. Stop it.\n2. Delete it.`)).toEqual([
    { kind: 'paragraph', text: 'Start the simulator:' },
    { kind: 'label', text: 'start.sh' },
    { kind: 'code', text: code },
    { kind: 'item', text: '1. Stop it.' },
    { kind: 'item', text: '2. Delete it.' },
  ]);
});

test('gives a row the header of its table', () => {
  const head = '| Bus | Rate |\n| --- | --- |';
  const text = `${head}\n| CAN | 1 Mbit/s |`;
  const [row, ...others] = splitPassageParts(text);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ kind: 'row', head: { start: 0, end: head.length } });
});

test('splits prose into sentences', () => {
  const text = 'A node computes, e.g. a path. It talks to others.';
  const sentences = splitPassageParts(text).flatMap((part) => part.sentences);
  expect(sentences.map(({ start, end }) => text.slice(start, end))).toEqual([
    'A node computes, e.g. a path.',
    'It talks to others.',
  ]);
});
