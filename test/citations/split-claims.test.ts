import { expect, test } from 'vitest';
import { findMarkers } from '../../src/citations/find-markers.ts';
import { splitClaims } from '../../src/citations/split-claims.ts';

/** Each sentence with what its markers name. */
function claimsIn(answer: string): [string, ...string[]][] {
  const markers = findMarkers(answer);
  return splitClaims(answer, markers).map((claim) => [claim.text, ...claim.refs]);
}

test('assigns a marker to the sentence it is in or follows', () => {
  expect(claimsIn('One is here [1]. Two is here. [2] Three[3][4] is here. Four.[5] Five.')).toEqual([
    ['One is here.', '1'],
    ['Two is here.', '2'],
    ['Three is here.', '3', '4'],
    ['Four.', '5'],
    ['Five.'],
  ]);
});

test('assigns a marker below code or a table to the sentence above it', () => {
  expect(claimsIn('Run this:\n\n```yaml\nport: 80\n```\n\n[1]\n\nTwo. [2]')).toEqual([
    ['Run this:', '1'],
    ['Two.', '2'],
  ]);
  expect(claimsIn('# Title\n\n```sh\nrun\n```\n\n[1]')).toEqual([['Title', '1']]);
  expect(claimsIn('| a |\n| --- |\n| b |\n\n[1]')).toEqual([['| a |'], ['| b |', '1']]);
});

test('assigns a source line to the sentence above it', () => {
  expect(claimsIn('One. Two.\n\nSource: [1]\n\nThree.')).toEqual([['One.'], ['Two.', '1'], ['Three.']]);
});

test('removes parentheses around a marker, but not those of a function', () => {
  expect(claimsIn('Call spin() now ([1]).')).toEqual([['Call spin() now.', '1']]);
});

test('assigns a marker at the start of a paragraph to its first sentence', () => {
  expect(claimsIn('One.\n\n[1] says two. Three.')).toEqual([['One.'], ['says two.', '1'], ['Three.']]);
  expect(claimsIn('[1] One.')).toEqual([['One.', '1']]);
});

test('assigns a marker on its own line to the sentence before it', () => {
  expect(claimsIn('One. Two.\n\n[1]\n\nThree.')).toEqual([['One.'], ['Two.', '1'], ['Three.']]);
});

test('abbreviations, decimals, versions and code do not end a sentence', () => {
  expect(
    claimsIn('Use tools, e.g. Nav2, at 3.5 Hz [1]. See Dr. Smith vs. Mr. Jones. Run `a. B` with v2.0.1 now.'),
  ).toEqual([
    ['Use tools, e.g. Nav2, at 3.5 Hz.', '1'],
    ['See Dr. Smith vs. Mr. Jones.'],
    ['Run `a. B` with v2.0.1 now.'],
  ]);
});

test('treats list items and rows as claims, but not code, headings, questions and introductions', () => {
  expect(
    claimsIn(
      '# Title\n\nThere are two:\n\n- one [1]\n- two\n  goes on [2]\n1. three\n\n```\ncode. [3]\n```\n\n| a | b [4] |\n\nOk?',
    ),
  ).toEqual([['one', '1'], ['two goes on', '2'], ['three'], ['| a | b |', '4']]);
  expect(claimsIn('# Title [1]')).toEqual([['Title', '1']]);
});

test('continues a sentence over a line break', () => {
  expect(claimsIn('One is\nhere [1]. Two\nis there.')).toEqual([['One is here.', '1'], ['Two is there.']]);
});

test('splits sentences of other scripts', () => {
  expect(claimsIn('你好。【1†source】再见。')).toEqual([['你好。', '1'], ['再见。']]);
});

test('keeps the text of a link in its sentence', () => {
  expect(claimsIn('See [the guide](https://a.test) for more.')).toEqual([['See the guide for more.']]);
});
