import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createWrappingWriter } from '../../../src/cli/terminal/wrapping.ts';
import { createVisibleStream } from '../../../src/text/visible-stream.ts';
import { visibleText } from '../../../src/text/visible-text.ts';

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom(
        '\x1b',
        '\x1b[',
        '\x1b]0;',
        '\x1bP',
        '\x9b',
        '\x9d',
        '\x07',
        '\x1b\\',
        '\x9c',
        '31m',
        '(',
        '\u202e',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

test('however an answer is split, the same text is shown as if it had come at once', () => {
  fc.assert(
    fc.property(hostile, fc.array(fc.nat(20)), (text, lengths) => {
      const stream = createVisibleStream();
      let shown = '';
      let rest = text;
      for (const length of lengths) {
        shown += stream.push(rest.slice(0, length));
        rest = rest.slice(length);
      }
      shown += stream.push(rest) + stream.end();
      expect(shown).toBe(visibleText(text));
    }),
    { numRuns: 2000 },
  );
});

test('an escape sequence that is split between deltas never gets through', () => {
  const stream = createVisibleStream();
  const deltas = ['safe \x1b', '[3', '1mred\x1b]8;;https://evil', '.test\x1b', '\\click\x1b]8;;\x07 end'];
  const shown = deltas.map((delta) => stream.push(delta));
  expect([...shown, stream.end()]).toEqual(['safe ', '', 'red', '', 'click end', '']);
});

test('a sequence that never ends cannot hide the answer', () => {
  const stream = createVisibleStream();
  let shown = '';
  for (let i = 0; i < 200; i += 1) shown += stream.push(i === 0 ? '\x1b]0;' : 'ten chars ');
  expect(shown.length).toBeGreaterThan(900);
  expect(shown).not.toContain('\x1b');
});

test('a character outside of the basic plane is not torn apart', () => {
  const stream = createVisibleStream();
  expect([stream.push('a\ud83d'), stream.push('\ude00b'), stream.end()]).toEqual(['a', '😀b', '']);
});

function wrapped(width: number, ...pieces: string[]): string {
  let text = '';
  const writer = createWrappingWriter((part) => {
    text += part;
  }, width);
  for (const piece of pieces) writer.write(piece);
  writer.end();
  return text;
}

test('lines are wrapped at spaces, whatever the pieces they came in', () => {
  const text = 'A node publishes messages on a topic [1].\n\n- a list\n    of things to do in order';
  const expected = 'A node publishes\nmessages on a topic\n[1].\n\n- a list\n    of things to do\nin order\n';
  expect(wrapped(19, text)).toBe(expected);
  expect(wrapped(19, ...text)).toBe(expected);
  fc.assert(
    fc.property(fc.array(fc.nat(7)), (lengths) => {
      let at = 0;
      const pieces = lengths.map((length) => {
        at += length;
        return text.slice(at - length, at);
      });
      expect(wrapped(19, ...pieces, text.slice(at))).toBe(expected);
    }),
  );
});

test('no line is wider than the width unless one word is, and no word is lost', () => {
  const words = fc.array(fc.stringMatching(/^[a-z.,[\]0-9]{1,12}$/), { minLength: 1 });
  fc.assert(
    fc.property(words, fc.integer({ min: 5, max: 40 }), (parts, width) => {
      const lines = wrapped(width, parts.join(' ')).trimEnd().split('\n');
      expect(lines.join(' ')).toBe(parts.join(' '));
      for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true);
    }),
  );
});

test('the first word is shown as it comes, not when it is complete', () => {
  const shown: string[] = [];
  const writer = createWrappingWriter((part) => shown.push(part), 20);
  for (const piece of ['Ro', 'bots', ' mo', 've']) writer.write(piece);
  expect(shown).toEqual(['Ro', 'bots']);
  writer.end();
  expect(shown.join('')).toBe('Robots move\n');
});

test('wide characters count twice and may be separated', () => {
  expect(wrapped(6, '日本語日本語')).toBe('日本語\n日本語\n');
  expect(wrapped(6, ...'日本語日本語')).toBe('日本語\n日本語\n');
});

test('long words and code between fences are left alone', () => {
  expect(wrapped(10, 'see https://docs.test/a/long/path ok')).toBe(
    'see\nhttps://docs.test/a/long/path\nok\n',
  );
  const code = '```\nros2 run demo_nodes talker --ros-args\n```\n';
  expect(wrapped(10, ...code)).toBe(code);
});
