import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMarkdownStream, renderMarkdownText } from '../../../src/cli/terminal/markdown-stream.ts';
import { createTerminal, type Terminal } from '../../../src/cli/terminal/terminal.ts';
import { displayWidth } from '../../../src/text/display-width.ts';
import { fakeStreams, plain } from '../support/fake-streams.ts';

type Kind = Parameters<typeof fakeStreams>[0];

function collecting(kind: Kind): { terminal: Terminal; parts: string[] } {
  const parts: string[] = [];
  const terminal = createTerminal(fakeStreams(kind).streams.stdout);
  return { terminal: { ...terminal, write: (text) => void parts.push(text) }, parts };
}

function whole(source: string, width: number, kind: Kind = 'dumb'): string {
  const { terminal, parts } = collecting(kind);
  renderMarkdownText({ terminal, width }, source);
  return parts.join('');
}

/** The output after each piece, and at the end. */
function streamed(pieces: readonly string[], width: number, kind: Kind = 'dumb'): string[] {
  const { terminal, parts } = collecting(kind);
  const stream = createMarkdownStream({ terminal, width });
  const shown = pieces.map((piece) => {
    stream.push(piece);
    return parts.splice(0).join('');
  });
  stream.end();
  return [...shown, parts.join('')];
}

const ANSWER = `## How a node is made

A **node** is a process that uses \`rclpy\` [1], see [the guide](https://docs.test/nodes).

1. Make a package
2. Write *the node*:

   \`\`\`python
   import rclpy  # the client
   rclpy.init("node", 42)
   \`\`\`
3. Run it
   - on a robot
   - in a simulator

| Topic | Rate |
| :-- | --: |
| scan | 10 |
| image | 30 |

> Mind __init__.py and 2 * 3 * 4.
`;

test('formats text, lists, tables and code without colours', () => {
  expect(whole(ANSWER, 46)).toBe(`How a node is made

A node is a process that uses \`rclpy\` [1], see
the guide (https://docs.test/nodes).

1. Make a package
2. Write the node:

       import rclpy  # the client
       rclpy.init("node", 42)
3. Run it
   • on a robot
   • in a simulator

Topic  Rate
─────  ────
scan     10
image    30

│ Mind __init__.py and 2 * 3 * 4.
`);
});

test('formats emphasis and links with colours', () => {
  const shown = whole(ANSWER, 80, 'terminal');
  expect(shown).toContain('\x1b[1mnode\x1b[22m');
  expect(shown).toContain('\x1b]8;;https://docs.test/nodes\x1b\\');
  expect(plain(shown)).toContain('uses rclpy [1], see the guide\n(https://docs.test/nodes).');
  expect(shown).toContain('   \x1b[32mrclpy.init("node", 42)');
  expect(whole(ANSWER, 80, 'pipe')).toContain('```python\n   import rclpy');
});

const block = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        'a',
        'word',
        '**bold words**',
        '*so*',
        '`code here`',
        '[1]',
        '[2][3].',
        '[a link](https://docs.test)',
        'snake_case',
        '*',
        '**',
        '`',
        '[',
        '2*3',
        '_',
        '<b>',
        '<',
        '机器人',
        '👩‍💻',
        '-',
        '|',
        '\n',
        '~~no~~',
        '#',
        '1.',
        '\\*',
        '&amp;',
      ),
      { minLength: 1, maxLength: 12 },
    )
    .map((words) => words.join(' ')),
  fc.constantFrom(
    '# A heading',
    '- one\n- two **bold**\n  more\n\n- three\n  1. deep',
    '1. one\n2. two\n\n   apart',
    '```js\nconst a = 1;\n\n// done\n```',
    '~~~\nopen code\n',
    '| a | b |\n|---|--:|\n| 1 | 2 |',
    'text\n| a |\n|---|\n| 1 |',
    '> quoted\n> more **of it**',
    '---',
    'Not a heading\n---',
    '<!-- a comment -->',
    '[1]: https://elsewhere.test',
    '- [ ] open\n- [x] done',
    '    indented',
  ),
);
const markdown = fc
  .array(fc.tuple(block, fc.constantFrom('\n', '\n\n', '\n\n\n')), { maxLength: 6 })
  .map((blocks) => blocks.flat().join(''));

test('prints every word exactly once, however the answer is split', () => {
  const words = (text: string) => plain(text).replace(/[\s`*_~>│•─|#-]+/g, '');
  fc.assert(
    fc.property(markdown, fc.array(fc.nat(30), { maxLength: 30 }), (source, lengths) => {
      let at = 0;
      const pieces = lengths.map((length) => {
        at += length;
        return source.slice(at - length, at);
      });
      const shown = streamed([...pieces, source.slice(at)], 30).join('');
      expect(words(shown)).toBe(words(whole(source, 30)));
    }),
    { numRuns: 200, examples: [['1. ** * 2*3\n', []]] },
  );
});

test('parses a long line of dashes with text after it quickly', () => {
  const line = `${'-'.repeat(2000)} and more\n`;
  expect(streamed([line], 80).join('')).toContain('and more');
});

test('prints the same for pieces of any size', () => {
  for (const kind of ['terminal', 'dumb', 'pipe'] as const) {
    for (const size of [1, 2, 3, 5, 8, 13, 40, 200]) {
      const pieces = ANSWER.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(streamed(pieces, 40, kind).join('')).toBe(whole(ANSWER, 40, kind));
    }
  }
});

test('prints a paragraph while it arrives, but no partial word or emphasis', () => {
  const shown = streamed(['A node publishes its messages on **a topic', ' that others hear** of.\n'], 80);
  expect(shown).toEqual(['A node publishes its messages on', ' a topic that others hear of.', '\n']);
});

test('prints code line by line without wrapping', () => {
  const shown = streamed(['```sh\n', 'ros2 run demo_nodes talker --ros-args\n', 'ls\n', '```\n'], 12);
  expect(shown).toEqual(['', '    ros2 run demo_nodes talker --ros-args', '\n    ls', '', '\n']);
});

test('a table waits until its columns are known', () => {
  const shown = streamed(['| a | b |\n', '|---|---|\n', '| one | two |\n', '\nAnd so on.\n'], 40);
  expect(shown.slice(0, 3)).toEqual(['', '', '']);
  expect(shown.join('')).toBe('a    b\n───  ───\none  two\n\nAnd so on.\n');
});

test('wraps the cells of a wide table, and prints a list if it cannot fit', () => {
  const table =
    '| name | what it does | 机器人 |\n|---|---|---|\n| talker | publishes messages all day | 什么是机器人操作系统 |';
  for (const width of [30, 40, 60]) {
    for (const line of whole(table, width).split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  }
  expect(whole(table, 60)).toContain('talker  publishes messages all day');
  expect(whole(table, 16)).toBe(
    'name: talker\nwhat it does:\npublishes\nmessages all day\n机器人: 什么是机\n器人操作系统\n',
  );
});

test('no line is wider than the terminal, whatever the characters', () => {
  const words = fc.array(fc.constantFrom('node', '**机器人**', '👩‍💻', '🇫🇷', '❤️', 'é', '`x1`', '[1]'), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(words, fc.integer({ min: 12, max: 200 }), (parts, width) => {
      const source = `- ${parts.join(' ')}\n\n${parts.join('')}`;
      for (const line of whole(source, width, 'terminal').split('\n').slice(0, -2)) {
        expect(displayWidth(plain(line)) <= width || !/\s\S/.test(plain(line).trim())).toBe(true);
      }
    }),
  );
});

test('does not wrap lines in a pipe', () => {
  const sentence = `${'A node publishes messages on a topic. '.repeat(20).trim()}\n`;
  expect(whole(sentence, Number.POSITIVE_INFINITY, 'pipe')).toBe(sentence);
});
