import { expect, test } from 'vitest';
import type { OfflinePassage } from '../../../src/adapters/offline/parse-model-request.ts';
import { selectSection, textOfPart } from '../../../src/adapters/offline/select-section.ts';

/** Passages of one document in order, each under its own headings or those of the section. */
function passages(...texts: (string | [text: string, ...headings: string[]])[]): OfflinePassage[] {
  return texts.map((given, index) => {
    const [text, ...headings] = typeof given === 'string' ? [given, 'Setup'] : given;
    return { ref: String(index + 1), title: 'Guide', headings, text, score: 0.6 };
  });
}

function shown(around: OfflinePassage[], best: number, query = ''): string[] {
  const passage = around[best - 1];
  if (passage === undefined) throw new Error(`there is no passage ${best}`);
  return selectSection(passage, around, query).map(textOfPart);
}

const words = (count: number, word: string) => `${`${word} `.repeat(count - 1)}${word}.`;

test('shows the passages around the best one under the same heading', () => {
  const around = passages(
    ['Other text is here.', 'Other'],
    'One comes first.',
    'Two is the best.',
    ['Three is below it.', 'Setup', 'Linux'],
    ['Four is elsewhere.', 'Usage'],
    'Five is too far.',
  );
  expect(shown(around, 3)).toEqual(['One comes first.', 'Two is the best.', 'Three is below it.']);
});

test('shows only what fits beside the best passage, which is whole', () => {
  const around = passages(
    `${words(100, 'far')}\n\n${words(60, 'before')}`,
    words(150, 'best'),
    `${words(30, 'after')}\n\n${words(300, 'long')}`,
  );
  expect(shown(around, 2)).toEqual([words(60, 'before'), words(150, 'best'), words(30, 'after')]);
  expect(shown(passages(words(400, 'best')), 1)).toEqual([words(400, 'best')]);
});

test('shows lists, tables and code whole, with the line that introduces them', () => {
  const list = passages('Choose one:\n\n- red\n- green', `- blue\n\n${words(300, 'long')}`);
  expect(shown(list, 2).slice(0, 4)).toEqual(['Choose one:', '- red', '- green', '- blue']);
  const code = passages(`${words(240, 'best')}\n\nRun this:`, '```sh\nnpm install a b c d e f g h\n```');
  expect(shown(code, 1).at(-1)).toBe('```sh\nnpm install a b c d e f g h\n```');
});

test('does not end on a line that introduces something', () => {
  expect(shown(passages('It starts. It stops at once.\n\nNow run this:'), 1)).toEqual([
    'It starts. It stops at once.',
  ]);
  expect(shown(passages('It starts. It stops at once.\n\nNext steps'), 1)).toHaveLength(1);
  expect(shown(passages('Now run this:'), 1)).toEqual(['Now run this:']);
});

test('does not start in the middle of a neighbour', () => {
  const around = passages('```sh\nend of some code\n```\n\nIt is ready.', 'Use it now.');
  expect(shown(around, 2)).toEqual(['It is ready.', 'Use it now.']);
});

test('does not repeat the sentence that two passages share', () => {
  const around = passages('One is here. Two is shared.', 'Two is shared. Three is new.');
  expect(shown(around, 2)).toEqual(['One is here. Two is shared.', 'Three is new.']);
});

test('shows the passage alone if nothing was read around it', () => {
  const [best] = passages('It is alone.');
  expect(best && selectSection(best, [], '').map(textOfPart)).toEqual(['It is alone.']);
});

test('shows the matching lines of a list that does not fit, and none of one without a match', () => {
  const items = Array.from({ length: 100 }, (_, index) => `- item${index} is one of many`).join('\n');
  const around = passages('It is the best.', `Choose one:\n\n${items}`);
  expect(shown(around, 1, 'what is item42?')).toEqual([
    'It is the best.',
    'Choose one:',
    '- item42 is one of many',
  ]);
  expect(shown(around, 1, 'what is blue?')).toEqual(['It is the best.']);
});
