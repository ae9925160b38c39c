import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPassedCitation } from '../../src/domain/citation.ts';
import {
  type ClaimObjection,
  checkClaimByWords,
  findObjections,
  toVerdict,
  VERDICT_THRESHOLDS,
} from '../../src/judge/claim-verdict.ts';
import { splitSentences } from '../../src/text/split-sentences.ts';
import { elapsed, HOSTILE } from '../citations/sources.ts';
import { anyCharacter } from '../support/any-character.ts';
import { CHUNKS, LABELLED_PAIRS, SECOND_PAIRS, type SimplePair, THIRD_PAIRS } from './labelled-pairs.ts';

const bare = (text: string) => ({ text, title: '', headings: [] });
const verdict = (claim: string, text: string) => checkClaimByWords(claim, bare(text)).verdict;

test.each(LABELLED_PAIRS)('$kind: $claim', ({ claim, chunk, accepts }) => {
  expect(accepts).toContain(checkClaimByWords(claim, CHUNKS[chunk]).verdict);
});

test('misjudges no more of the hard pairs than before', () => {
  const wrong = (pairs: SimplePair[]) =>
    pairs.filter(
      ({ claim, chunk, supported }) =>
        isPassedCitation(checkClaimByWords(claim, CHUNKS[chunk])) !== supported,
    );
  expect(wrong(SECOND_PAIRS).map(({ claim }) => claim)).toHaveLength(4);
  // Swapped roles, swapped numbers and opposites that are not in the table pass; free paraphrases are only weak.
  expect(wrong(THIRD_PAIRS).length).toBeLessThanOrEqual(9);
});

test('quotes every sentence of the sample book from its page', () => {
  let sentences = 0;
  for (const file of globSync('fixtures/book/**/*.md')) {
    const page = bare(readFileSync(file, 'utf8'));
    for (const { start, end } of splitSentences(page.text)) {
      const sentence = page.text.slice(start, end);
      if (!/[\p{L}\p{N}]/u.test(sentence)) continue;
      sentences += 1;
      expect(checkClaimByWords(sentence, page), sentence).toMatchObject({ verdict: 'quoted' });
    }
  }
  expect(sentences).toBeGreaterThan(300);
});

test('rarely supports a sentence of the sample book by another page', () => {
  const pages = globSync('fixtures/book/**/*.md').map((file) => bare(readFileSync(file, 'utf8')));
  let supported = 0;
  let checked = 0;
  pages.forEach((page, index) => {
    const other = pages[(index + 5) % pages.length] ?? page;
    for (const { start, end, heading } of splitSentences(page.text)) {
      if (heading || end - start < 40) continue;
      checked += 1;
      if (isPassedCitation(checkClaimByWords(page.text.slice(start, end), other))) supported += 1;
    }
  });
  expect(supported / checked).toBeLessThan(0.01);
});

test('quotes any sentence that is in the chunk word for word', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'not',
      'never',
      'three',
      '42',
      '10%',
      'NASA',
      '`a_b`',
      'Rome',
      'the',
      '"two',
      'words"',
      'e.g.',
      '**x**',
    ),
    fc.stringMatching(/^[a-z]{1,8}$/),
  );
  const sentence = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => `${words.join(' ')}.`);
  fc.assert(
    fc.property(fc.array(sentence), sentence, fc.array(sentence), (before, own, after) => {
      const text = [...before, own, ...after].join('\n\n');
      expect(verdict(own, text)).toBe('quoted');
      expect(verdict(own.replaceAll(' ', '  '), text)).toBe('quoted');
    }),
  );
});

test('does not support a part of a sentence with another meaning', () => {
  expect(verdict('The lamp is on.', 'It is not true that the lamp is on.')).not.toBe('supported');
});

test('requires exact quotes except for white space, the first letter and quotation marks', () => {
  const text = 'It’s the   “last” message that\nwins every time.';
  expect(verdict('The last message wins: "the “last” message that wins".', text)).toBe('supported');
  expect(verdict('The last message wins: “The "last" message that wins”.', text)).not.toBe('unsupported');
  expect(verdict('The last message wins: "the last message always wins".', text)).toBe('unsupported');
  expect(verdict('The last message wins: "the LAST message that wins".', text)).toBe('unsupported');
  expect(verdict('The last message wins: "the last message … every time".', text)).not.toBe('unsupported');
  expect(verdict('The "first wins" message is the last message that wins.', text)).not.toBe('supported');
});

test('compares numbers by value and unit', () => {
  const text = 'The buffer holds 1,500 frames, fills in 2.50 seconds and drops twelve percent of them.';
  for (const claim of [
    'The buffer holds 1500 frames.',
    'The buffer fills in 2.5 s.',
    'The buffer drops 12% of the frames.',
    'The buffer drops 12 percent of the frames.',
  ]) {
    expect(checkClaimByWords(claim, bare(text)), claim).toMatchObject({ verdict: 'supported' });
  }
  for (const claim of [
    'The buffer holds 1501 frames.',
    'The buffer holds 150 frames.',
    'The buffer fills in 2.5 ms.',
    'The buffer fills in 25 seconds.',
    'The buffer drops eleven percent of the frames.',
    'The buffer holds -1500 frames.',
  ]) {
    expect(checkClaimByWords(claim, bare(text)), claim).toMatchObject({
      verdict: 'unsupported',
      objections: ['number'],
    });
  }
});

test('requires identifiers to be in the chunk', () => {
  const text = 'Call `spin_once()` of rclpy.executors with --timeout and the QoSProfile of version 2.4.1.';
  for (const name of ['`spin_once`', 'spin_once', 'rclpy.executors', '--timeout', 'QoSProfile', '2.4.1']) {
    expect(
      checkClaimByWords(`Call ${name} of version 2.4.1 with --timeout.`, bare(text)).objections,
      name,
    ).not.toContain('identifier');
  }
  for (const name of [
    '`spin`',
    'spin_twice',
    'rclpy.node',
    '--time',
    'QoSProfiler',
    '2.4',
    '2.4.11',
    '`once()`',
  ]) {
    const { verdict: given } = checkClaimByWords(
      `Call ${name} of rclpy.executors with --timeout.`,
      bare(text),
    );
    expect(given, name).toBe('unsupported');
  }
});

test('accepts names from the title and headings', () => {
  const chunk = {
    text: 'It renders sensors with ray tracing.',
    title: 'Isaac Sim',
    headings: ['Rendering with Vulkan'],
  };
  expect(checkClaimByWords('Sensors are rendered by Isaac Sim with ray tracing.', chunk).verdict).toBe(
    'supported',
  );
  expect(checkClaimByWords('Sensors are rendered by Gazebo with ray tracing.', chunk).verdict).toBe(
    'unsupported',
  );
});

test.each([
  ['quote', 'unsupported', 'Owls "hunt by full day" in barns.', 'Owls hunt by night in barns.'],
  ['identifier', 'unsupported', 'Owls hunt by `night_mode` in barns.', 'Owls hunt by night in barns.'],
  ['number', 'unsupported', 'Owls hunt 30 mice in barns.', 'Owls hunt 20 mice in barns.'],
  ['name', 'unsupported', 'Owls hunt mice in Rome.', 'Owls hunt mice in barns.'],
  ['negation', 'unsupported', 'Owls never hunt mice in barns.', 'Owls hunt mice in barns.'],
  [null, 'unsupported', 'Cars drive on roads.', 'Owls hunt mice in barns.'],
  [null, 'weak', 'Owls hunt mice on roads with cars.', 'Owls hunt mice in barns.'],
  [null, 'weak', 'Owls can hunt fat mice in old barns.', 'Foxes hunt fat mice in old barns.'],
])('returns the objection to a claim: %s (%s)', (objection, given, claim, text) => {
  const objections = objection === null ? [] : [objection];
  expect(checkClaimByWords(claim, bare(text))).toMatchObject({ objections, verdict: given });
});

test('supports nothing by an empty chunk', () => {
  expect(verdict('Robots fly.', '')).toBe('unsupported');
  expect(checkClaimByWords('...', bare('Robots fly.')).verdict).toBe('weak');
});

test('checks any text against any other', () => {
  const any = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 60 }), fc.string({ maxLength: 60 }));
  fc.assert(
    fc.property(any, any, any, (claim, text, title) => {
      const { support } = checkClaimByWords(claim, { text, title, headings: [title] });
      expect(support).toBeGreaterThanOrEqual(0);
      expect(support).toBeLessThanOrEqual(1);
    }),
    { numRuns: 500 },
  );
});

test.each(Object.entries(HOSTILE))('checking 100 kB of %j takes little time', (_, text) => {
  expect(elapsed(() => checkClaimByWords(text, bare('A node publishes messages.')))).toBeLessThan(20_000);
  expect(elapsed(() => checkClaimByWords('A node publishes 3 messages.', bare(text)))).toBeLessThan(20_000);
});

const thresholds = { supported: 0.6, weak: 0.3 };
const verdictOf = (chance: number, objections: ClaimObjection[] = [], isVerbatim = false) =>
  toVerdict(chance, { isVerbatim }, objections, thresholds);

test('quotes a verbatim sentence regardless of its chance', () => {
  expect(verdictOf(0, ['number'], true)).toBe('quoted');
});

test('includes the threshold', () => {
  expect([0.6, 0.599, 0.3, 0.299].map((chance) => verdictOf(chance))).toEqual([
    'supported',
    'weak',
    'weak',
    'unsupported',
  ]);
  expect(toVerdict(VERDICT_THRESHOLDS.supported, { isVerbatim: false }, [])).toBe('supported');
  expect(VERDICT_THRESHOLDS.supported).toBeGreaterThan(VERDICT_THRESHOLDS.weak);
});

test('is weak at best with an objection', () => {
  expect(verdictOf(0.99, ['number'])).toBe('weak');
  expect(verdictOf(0.1, ['number'])).toBe('unsupported');
});

const HELD = {
  isVerbatim: false,
  contentCount: 5,
  share: 1,
  missing: { quotes: [], identifiers: [], numbers: [], names: [] },
  numbersFar: 0,
  isSubjectFar: false,
  contradicts: false,
};

test.each([
  ['quote', { missing: { ...HELD.missing, quotes: ['x'] } }],
  ['identifier', { missing: { ...HELD.missing, identifiers: ['x'] } }],
  ['number', { missing: { ...HELD.missing, numbers: ['1'] } }],
  ['name', { missing: { ...HELD.missing, names: ['X'] } }],
  ['negation', { contradicts: true }],
])('finds the objection %s', (objection, facts) => {
  expect(findObjections({ ...HELD, ...facts })).toEqual([objection]);
});

test('returns no objections if all facts are in the source', () => {
  expect(findObjections(HELD)).toEqual([]);
});
