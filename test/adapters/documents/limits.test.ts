import { expect, test } from 'vitest';
import { threadCpuTimeMs } from '../../support/cpu-time.ts';
import { parseSource } from './parse-source.ts';

const DEPTH = 10_000;
const nested = (open: string, close = '') => `${open.repeat(DEPTH)}deep${close.repeat(DEPTH)}`;

test.each([
  ['markdown', 'quotes', nested('>')],
  ['markdown', 'brackets', nested('[', ']')],
  ['markdown', 'bullets', nested('- ')],
  ['markdown', 'admonitions', nested(':::note\n')],
  ['markdown', 'elements', nested('<div>', '</div>')],
  ['mdx', 'components', nested('<Box>', '</Box>')],
  ['html', 'elements', nested('<div>', '</div>')],
  ['rst', 'bullets', nested('- ')],
] as const)('parses or rejects %s with 10,000 nested %s', async (mediaType, _, source) => {
  const outcome = await parseSource(mediaType, source).then(
    ({ text }) => text.includes('deep'),
    (error: unknown) => error,
  );
  if (outcome !== true) expect(outcome).toMatchObject({ name: 'AppError', kind: 'invalid_input' });
});

const section = (index: number) =>
  `## Section ${index}\n\nText of **${index}** with a [link][target] at 10:30.\n\n- one\n- two\n\n\`\`\`js\nlet a;\n\n# no heading\n\`\`\`\n\n`;

test('splitting a long Markdown document does not change the result', async () => {
  const count = 800;
  const source = Array.from({ length: count }, (_, index) => section(index)).join('');
  const { text, blocks } = await parseSource(
    'markdown',
    `---\ntitle: Long\n---\n\n${source}[target]: https://x.y\n`,
  );
  expect(blocks).toHaveLength(count * 5);
  expect(text).toContain('Text of 799 with a [link](https://x.y) at 10:30.');
  expect(text).not.toContain('[target]');
});

test('parses Markdown in linear time', async () => {
  const timeOf = async (count: number) => {
    const source = Array.from({ length: count }, (_, index) => section(index)).join('');
    const start = threadCpuTimeMs();
    await parseSource('markdown', source);
    return threadCpuTimeMs() - start;
  };
  await timeOf(200);
  const [short, long] = [await timeOf(200), await timeOf(1600)];
  expect(long / short).toBeLessThan(24);
});

test('parses a page with more elements than a call can have arguments', async () => {
  const { blocks } = await parseSource('html', `<main><div>${'<p>a</p>'.repeat(130_000)}</div></main>`);
  expect(blocks).toHaveLength(130_000);
});
