import { expect, test } from 'vitest';
import { findMarkers } from '../../src/citations/find-markers.ts';
import { findLinkDefinitions, findSourcesSection } from '../../src/citations/sources-section.ts';

/** What is left of an answer above the list of sources that the model wrote under it. */
function above(answer: string): string {
  const knows = (reference: string) => reference.trim() === 'The guide';
  return answer.slice(0, findSourcesSection(answer, findMarkers(answer), knows));
}

test.each([
  '## Sources\n\n- [1] The guide\n- [2] Another',
  '**References:**\n1. https://a.test\n2. https://b.test',
  'Sources:\n[1] The guide',
  'Sources used\n\n* [1]\n\n* [2]',
  'Bibliography\n- The guide',
  'Works cited:\n- [1]',
  'Further reading\n- [the guide](https://a.test)',
  'Sources: [1], [2]',
  'References: https://a.test',
  'Sources:\n- whatever it is',
  'Sources: the guide',
  '## Sources\n- [1]\n\n## References\n- [2]',
])('finds a list of sources: %j', (section) => {
  expect(above(`It is so [1].\n\n${section}`)).toBe('It is so [1].\n\n');
});

test.each([
  'It is so.\n\n## Sources\n\n- of light\n- of sound',
  'It is so.\n\n## Sources\n\nThere are many of them, such as the sun. [1]\n\nAnd more of that.',
  `It is so.\n\n## Sources\n\n- [1] ${'x'.repeat(300)}`,
  'It is so.\n\nSource: [1]',
  'It is so.\n\n```\nSources:\n- [1]\n```',
  '## Sources\n\n- [1] The guide',
  'It is so.\n\n- [1] The guide',
  '',
])('keeps text that only looks like a list of sources: %j', (answer) => {
  expect(above(answer)).toBe(answer);
});

test('allows 80 characters besides the marker in an entry that is not a list item', () => {
  expect(above(`It is so.\n\nReferences\n${'x'.repeat(79)} [1]`)).toBe('It is so.\n\n');
  expect(above(`It is so.\n\nReferences\n${'x'.repeat(80)} [1]`)).toContain('References');
});

test('limits an entry to 300 characters', () => {
  expect(above(`It is so.\n\nReferences\n- [1] ${'x'.repeat(294)}`)).toBe('It is so.\n\n');
  expect(above(`It is so.\n\nReferences\n- [1] ${'x'.repeat(295)}`)).toContain('References');
});

const definitionsIn = (answer: string) =>
  findLinkDefinitions(answer).map(({ start, end }) => answer.slice(start, end));

test('finds footnote and link definitions line by line outside of code', () => {
  const answer = [
    'It is so [1].',
    '',
    '[1]: https://a.test',
    '[^note]: A footnote in words.',
    '  > [guide]: <https://a.test> "The guide"',
    '[2]: any words at all',
  ].join('\n');
  expect(definitionsIn(answer)).toEqual([
    '[1]: https://a.test',
    '[^note]: A footnote in words.',
    '  > [guide]: <https://a.test> "The guide"',
    '[2]: any words at all',
  ]);
  expect(definitionsIn('```\n[1]: https://a.test\n```')).toEqual([]);
});

test('does not treat a name with a colon as a definition if words follow', () => {
  expect(definitionsIn('[Note]: this is a sentence.')).toEqual([]);
  expect(definitionsIn('So [1]: it is.')).toEqual([]);
  expect(definitionsIn('[]: https://a.test')).toEqual([]);
});
