import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkAnswer } from '../../src/citations/check-answer.ts';
import { cleanAnswer } from '../../src/citations/clean-answer.ts';
import { findMarkersAndLinks } from '../../src/citations/find-markers.ts';
import { createSourceRegister, type SourceRegister } from '../../src/citations/source-register.ts';
import { createWordChecker } from '../../src/citations/word-checker.ts';
import { citationSchema, isPassedCitation } from '../../src/domain/citation.ts';
import { splitSentences } from '../../src/text/split-sentences.ts';
import { chunk } from '../domain/arbitraries.ts';
import { anyCharacter } from '../support/any-character.ts';
import { elapsed, exampleRegister, HOSTILE, registerOf } from './sources.ts';

const register = exampleRegister();
const checker = createWordChecker({ store: { wordVectors: async () => new Map() }, embedder: null });
const check = (answer: string, sources: SourceRegister = register) =>
  checkAnswer(answer, sources, checker, { question: '' });
const cleaned = (answer: string) => cleanAnswer(answer, register).text;
const verdictsOf = async (answer: string) =>
  (await check(answer)).citations.map(({ marker, verdict }) => `${marker} ${verdict}`);

test('returns a verdict per sentence and the best one per cited chunk', async () => {
  const { answer, citations, sentences } = await check(
    'A node publishes messages on a topic [1]. A node publishes no messages [1]. A service has one server [2]. So be it.',
    register,
  );
  expect(answer).toContain('on a topic [1].');
  expect(sentences.map(({ text, verdict, refs }) => ({ text, verdict, refs }))).toEqual([
    { text: 'A node publishes messages on a topic.', verdict: 'quoted', refs: ['1'] },
    { text: 'A node publishes no messages.', verdict: 'unsupported', refs: ['1'] },
    { text: 'A service has one server.', verdict: 'quoted', refs: ['2'] },
    { text: 'So be it.', verdict: null, refs: [] },
  ]);
  expect(sentences.map(({ start, end }) => answer.slice(start, end)).slice(1, 3)).toEqual([
    'A node publishes no messages [1].',
    'A service has one server [2].',
  ]);
  expect(citations.map(({ marker, chunkId, verdict }) => [marker, chunkId, verdict])).toEqual([
    ['1', 'topics-0', 'quoted'],
    ['2', 'services-0', 'quoted'],
  ]);
});

test('compares a sentence with all of its sources', async () => {
  const { sentences, citations } = await check(
    'A node publishes messages on a topic [1], while a service has one server [2].',
  );
  expect(sentences).toMatchObject([{ verdict: 'supported', refs: ['1', '2'] }]);
  expect(citations.map(({ verdict }) => verdict)).toEqual(['supported', 'supported']);
  const half = await check('A node publishes messages on a topic [1], while a service has 12 servers [2].');
  expect(half.sentences).toMatchObject([{ verdict: 'unsupported' }]);
});

test('does not support a marker without a sentence', async () => {
  expect(await verdictsOf('[1]')).toEqual(['1 unsupported']);
});

test('rewrites known markers of every form as refs', async () => {
  const claim = 'A service has one server';
  for (const marker of [
    ' [2].',
    '【2†source】.',
    ' [Source: Services [intro]].',
    ' [Source: Services \\[intro\\]](https://docs.test/services_%28intro%29).',
    ' [Source: Services](https://docs.test/services_(intro)).',
    ' [^2].',
    ' [2](https://docs.test/services_(intro)).',
    '. [Services](https://docs.test/services_(intro))',
  ]) {
    const checked = await check(claim + marker, register);
    expect(checked.answer, marker).toMatch(/^A service has one server(?: ?\[2\]\.|\. \[2\])$/);
    expect(checked.citations, marker).toMatchObject([{ marker: '2', verdict: 'quoted' }]);
  }
});

test('cites the chunk of a document that supports the sentence', () => {
  expect(cleaned('Subscribers receive messages in callbacks [Source: Topics].')).toBe(
    'Subscribers receive messages in callbacks [3].',
  );
  expect(cleaned('A topic can have many subscribers [topics page](https://docs.test/topics).')).toBe(
    'A topic can have many subscribers topics page [1].',
  );
});

test('removes and reports unknown sources', async () => {
  const cases: [string, string][] = [
    ['Robots fly [9].', 'Robots fly.'],
    ['Robots fly. [9] They land [8][1].', 'Robots fly. They land [1].'],
    ['Robots fly ([9]), they land.', 'Robots fly, they land.'],
    ['Robots (see [9]) fly.', 'Robots fly.'],
    ['Robots fly ([9], [1]).', 'Robots fly ([1]).'],
    ['Robots fly [1, 9].', 'Robots fly [1].'],
    ['Robots fly **[9]**.', 'Robots fly.'],
    ['Robots fly [Source: Evil](http://evil.test).', 'Robots fly.'],
    ['See the [manual](manual.md) first.', 'See the manual first.'],
    ['See the [manual](file:///home/me/manual.md) first.', 'See the manual first.'],
    ['See the [manual](javascript:alert(1)) first.', 'See the manual first.'],
    ['See [Topics](http://evil.test/topics) first.', 'See Topics first.'],
    ['See [https://docs.test/topics](http://evil.test) first.', 'See https://docs.test/topics first.'],
    ['Robots fly.\n\n## Sources\n\n- [Evil](http://evil.test)', 'Robots fly.'],
    ['Robots fly.\n\nSource: [Evil](http://evil.test)', 'Robots fly.'],
    ['Robots fly (Source: [Evil](http://evil.test)).', 'Robots fly.'],
    ['Robots fly.\n\nSource: [9]\n\nThey land.', 'Robots fly.\n\nThey land.'],
    ['- Robots\n- [Source: Evil](http://evil.test)\n- fly', '- Robots\n- fly'],
    ['[Source: Evil](http://evil.test)', ''],
    ['Robots 【7†source】 fly.', 'Robots fly.'],
    ['![pixel](http://evil.test/p.png) Robots', 'pixel Robots'],
    ['Robots [[Source: Evil](http://evil.test)] fly', 'Robots fly'],
  ];
  for (const [answer, expected] of cases) {
    expect(cleaned(answer), answer).toBe(expected);
    expect(
      (await verdictsOf(answer)).some((verdict) => verdict.endsWith('unknown_source')),
      answer,
    ).toBe(true);
  }
});

test('keeps links to other sites, which cite nothing', async () => {
  for (const answer of [
    'A service has one server [2], see [docs](https://example.com).',
    'See the [manual](http://evil.test/a_(b) "A title") first. A service has one server [2].',
    'A service has one server [2]. [Docs](https://www.example.com/a?b=c#d)\n\nAsk [us](mailto:us@example.com).',
    'A service has [exactly](https://example.com) one server [2].',
  ]) {
    expect(cleaned(answer), answer).toBe(answer);
    expect(await verdictsOf(answer), answer).toEqual([expect.stringMatching(/^2 (?:quoted|supported)$/)]);
  }
  const { sentences } = await check('A service has [exactly](https://example.com) one server [2].', register);
  expect(sentences).toMatchObject([{ text: 'A service has exactly one server.', refs: ['2'] }]);
  expect((await check('See [docs](https://docs.test/topics).', createSourceRegister())).citations).toEqual(
    [],
  );
});

test('rejects an unknown address with a known title', () => {
  expect(cleaned('Robots fly [Source: Topics](http://evil.test/topics).')).toBe('Robots fly.');
  expect(cleaned('Robots fly [1](http://evil.test).')).toBe('Robots fly.');
  expect(cleaned('A topic can have many subscribers [Source: Topics](/topics).')).toBe(
    'A topic can have many subscribers [1].',
  );
});

test('removes definitions that would turn a ref into a link', () => {
  expect(cleaned('A service has one server [2].\n\n[2]: http://evil.test "x"')).toBe(
    'A service has one server [2].',
  );
  expect(cleaned('A [x] b.\n[x]: <javascript:alert(1)>\nC.')).toBe('A [x] b.\nC.');
});

test("removes the model's own list of sources", () => {
  const body = 'A service has one server [2].';
  for (const list of [
    '\n\nSources:\n- [Source: Services](https://docs.test/services_(intro))\n',
    '\n\n## References\n\n1. Services, https://docs.test/services_(intro)\n2. Topics',
    '\n\n**Sources:** [1], [2]',
    '\n\n---\n\nSources:\n[2] Services\n[9] Evil',
    '\n\n[^2]: Services',
  ]) {
    expect(cleaned(body + list), list).toBe(body);
  }
});

test('keeps prose about sources', () => {
  for (const answer of [
    'Sources of energy are many. References help.',
    '## Sources\n\nEnergy comes from many places, and each of them has its own price and its own risks.',
    'Sources:\n- Topics',
    'There are two.\n\n## References\n- An lvalue reference binds to a name.\n- An rvalue reference does not.',
  ]) {
    expect(cleaned(answer)).toBe(answer);
  }
});

test('keeps a list of sources that has the only citations', async () => {
  expect(
    cleaned(
      'A node publishes messages on a topic. A service has one server.\n\nSources:\n- [Source: Topics](https://docs.test/topics)\n- [2]',
    ),
  ).toBe('A node publishes messages on a topic. A service has one server.\n\nSources:\n- [1]\n- [2]');
});

test('keeps text without markers unchanged', () => {
  const words = fc
    .array(
      fc.oneof(
        fc.stringMatching(/^[a-zA-Z0-9 .,;!?'"*_#>|~^-]{0,20}$/),
        fc.constantFrom('\n', '\n\n', '  ', '`x[1]`', '- [ ] '),
      ),
    )
    .map((parts) => parts.join(''))
    .filter(
      (text) =>
        findMarkersAndLinks(text, () => false).length === 0 && !/source|reference|citation/i.test(text),
    );
  fc.assert(fc.property(words, (text) => cleaned(text) === text));
});

const pieces = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
  fc.constantFrom(
    '[1]',
    '[9]',
    '[1, 9]',
    '[2-4]',
    '[^9]',
    '[Source: Evil]',
    '[Source: Topics]',
    '[Source: Evil](http://evil.test/x)',
    '[text](http://evil.test)',
    '[Topics](https://docs.test/topics)',
    'https://docs.test/topics',
    'http://evil.test/a(b)',
    'www.evil.test',
    '【9†source】',
    '(Source: Evil)',
    '(see ',
    ')',
    '(',
    '[',
    ']',
    '](',
    '![',
    '`',
    '```',
    '\n',
    '\n\n',
    'Sources:\n',
    '- ',
    '# ',
    '> ',
    '. ',
    ', ',
    ' ',
    'Source: ',
    '[1]: http://evil.test\n',
    '<',
    '>',
    '\\',
    '*',
    '_',
    'http://',
    '[[',
    '9]',
    'A service has one server',
    'e.g. ',
    '~~~',
    '|',
    '1. ',
    'and ',
  ),
);
const answers = fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join(''));

test('removes every unknown marker, is idempotent and returns valid citations', async () => {
  await fc.assert(
    fc.asyncProperty(answers, async (answer) => {
      const checked = await check(answer, register);
      const isKnown = (ref: string) => register.chunkOf(ref) !== undefined;
      for (const { names, link } of findMarkersAndLinks(checked.answer, isKnown)) {
        if (link === null) expect(names.every(isKnown)).toBe(true);
        else expect([link.isImage, names, link.url]).toEqual([false, [], expect.stringMatching(/^https?:/)]);
      }
      for (const citation of checked.citations) citationSchema.parse(citation);
      const again = await check(checked.answer, register);
      expect(again.answer).toBe(checked.answer);
      expect(again.sentences).toEqual(checked.sentences);
    }),
    { numRuns: 2000 },
  );
});

test('passes cited sentences of the sample book', async () => {
  for (const file of globSync('fixtures/book/**/*.md')) {
    const text = readFileSync(file, 'utf8').replace(/^---\n.*?\n---\n/s, '');
    const page = registerOf(chunk({ text, title: 'Page', headings: [] }));
    for (const { start, end, heading } of splitSentences(text)) {
      const sentence = text.slice(start, end);
      if (heading || !/^[A-Z`].*\.$/s.test(sentence) || findMarkersAndLinks(sentence, () => false).length > 0)
        continue;
      const { sentences, answer } = await check(`${sentence} [1]`, page);
      expect(answer).toBe(`${sentence} [1]`);
      expect(sentences, sentence).toMatchObject([{ refs: ['1'] }]);
      expect(sentences.every(isPassedCitation), sentence).toBe(true);
    }
  }
});

test.each(Object.entries(HOSTILE))('checking an answer of 100 kB of %j takes little time', (_, answer) => {
  expect(elapsed(() => cleanAnswer(answer, register))).toBeLessThan(20_000);
  expect(elapsed(() => cleanAnswer(`A service has one server [2]. ${answer}`, register))).toBeLessThan(
    20_000,
  );
});

test('removes deeply nested brackets', async () => {
  const nested = `${'['.repeat(5000)}9${']9'.repeat(4999)}]`;
  const { answer } = await check(nested, register);
  expect(findMarkersAndLinks(answer, () => false)).toEqual([]);
  expect(cleaned(answer)).toBe(answer);
});

test('checks many citations of a document with many chunks quickly', () => {
  const many = registerOf(
    ...Array.from({ length: 500 }, (_, index) =>
      chunk({ chunkId: `c${index}`, text: `Robot ${index} flies. `.repeat(10) }),
    ),
  );
  const answer = 'Robot 7 flies [Source: Topics]. '.repeat(500);
  expect(elapsed(() => cleanAnswer(answer, many))).toBeLessThan(20_000);
});
