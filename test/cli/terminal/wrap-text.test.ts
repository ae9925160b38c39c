import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTable } from '../../../src/cli/terminal/format-table.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import { renderText, wrapLine, wrapPieces, wrapRuns } from '../../../src/cli/terminal/wrap-text.ts';
import { cutToWidth, displayWidth } from '../../../src/text/display-width.ts';
import { fakeStreams } from '../support/fake-streams.ts';

test('wraps at spaces and keeps long words whole', () => {
  expect(wrapLine('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapLine('a incomprehensibilities b', 8)).toEqual(['a', 'incomprehensibilities', 'b']);
  expect(wrapLine('', 8)).toEqual([]);
});

test('breaks long paths and URLs after a separator', () => {
  const path = '/home/someone/docs/concepts/python-versions.md';
  expect(wrapLine(`It is ${path}.`, 20)).toEqual([
    'It is /home/someone/',
    'docs/concepts/',
    'python-versions.md.',
  ]);
  const { streams, out } = fakeStreams('terminal', 24);
  renderText(createTerminal(streams.stdout), `Opened ${path}`, { indent: '  ' });
  expect(out()).toBe('  Opened /home/someone/\n  docs/concepts/python-\n  versions.md\n');
  const line = wrapPieces(createTerminal(streams.stdout), [{ text: '[1]' }, { text: path }], '  ');
  expect(line).toBe('[1] /home/someone/docs/\n  concepts/python-\n  versions.md');
  expect(wrapLine('/home/someone/.config/citeloop', 16)).toEqual(['/home/someone/', '.config/citeloop']);
});

test('keeps indents on request', () => {
  const runs = [{ text: 'def f():\n    return 1\n\nend', paint: (part: string) => part }];
  expect(wrapRuns(runs, 40, { keepIndents: true })).toEqual(['def f():', '    return 1', '', 'end']);
  expect(wrapRuns(runs, 40)).toEqual(['def f():', 'return 1', '', 'end']);
});

test('counts wide characters as two columns and breaks between them', () => {
  expect(wrapLine('机器人操作系统是什么', 8)).toEqual(['机器人操', '作系统是', '什么']);
  expect(wrapLine('ROS 2是什么', 7)).toEqual(['ROS 2是', '什么']);
});

test('no line is wider than the limit unless a single word is', () => {
  const words = fc.array(fc.constantFrom('a', 'node', '机器人', 'ロボット', '。', '🤖', 'x1'), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 40 }), (parts, width) => {
      const lines = wrapLine(parts.join(' '), width);
      expect(lines.every((line) => displayWidth(line) <= width)).toBe(true);
      expect(lines.join('').replaceAll(' ', '')).toBe(parts.join(''));
    }),
  );
});

test('cuts to a number of columns', () => {
  expect(cutToWidth('机器人操作系统', 8)).toBe('机器人…');
  expect(cutToWidth('robots', 6)).toBe('robots');
  expect(cutToWidth('robots', 0)).toBe('');
});

test('prints rows as lists if a table does not fit', () => {
  const shown = (columns: number) => {
    const { streams } = fakeStreams('dumb', columns);
    const rows = [['3f2b8c1e', '2026-11-17 19:03', 'How do I pin a version of Python?']];
    return formatTable(createTerminal(streams.stdout), ['id', 'updated', 'first question'], rows);
  };
  expect(shown(60)).toContain('3f2b8c1e  2026-11-17 19:03  How do I pin a version of Pytho…');
  expect(shown(40)).toBe(
    'id: 3f2b8c1e\nupdated: 2026-11-17 19:03\nfirst question: How do I pin a version\nof Python?\n',
  );
});

test('aligns columns with wide characters', () => {
  const { streams } = fakeStreams('pipe');
  const shown = formatTable(
    createTerminal(streams.stdout),
    ['name', 'documents'],
    [
      ['机器人', '3'],
      ['robots', '12'],
    ],
  );
  expect(shown.split('\n').slice(1, 3)).toEqual(['机器人  3', 'robots  12']);
});
