import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createTextUntil } from '../../../src/adapters/llama/person-marker.ts';
import { useModel } from '../../../src/adapters/llama/shared-models.ts';
import { engineDirectory } from '../../support/llama-engine.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { type TinyGgufOptions, writeTinyGguf } from '../../support/tiny-gguf.ts';

const PLAIN_ROLES = `{% for message in messages %}{{ '<|' + message['role'] + '|>\n' + message['content'] + eos_token + '\n' }}{% endfor %}{{ '<|assistant|>\n' }}`;

async function markerOf(options: TinyGgufOptions): Promise<string | null> {
  const path = writeTinyGguf(join(await temporaryDirectory(), 'tiny.gguf'), options);
  const use = useModel({ path, contextSize: 256, threads: 1, engineDirectory: engineDirectory() });
  onTestFinished(() => use.release());
  return (await use.get()).personMarker;
}

test('a template whose roles are plain text has a marker, and one with tokens of their own has none', async () => {
  expect(await markerOf({ chatTemplate: PLAIN_ROLES })).toBe('<|user|>');
  expect(await markerOf({})).toBeNull();
});

test('an answer ends before the marker, however it comes in pieces, and nothing of it is shown', () => {
  const pieces = fc.array(fc.stringMatching(/^[a<|user>\n]{1,4}$/), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (all) => {
      const text = all.join('');
      const until = createTextUntil('<|user|>');
      let shown = '';
      let ended = false;
      for (const piece of all) {
        if (ended) break;
        const pushed = until.push(piece);
        shown += pushed.shown;
        ended = pushed.ended;
      }
      if (!ended) shown += until.rest();
      expect(ended).toBe(text.includes('<|user|>'));
      expect(shown).toBe(text.split('<|user|>')[0]);
    }),
    { examples: [[['Yes.\n<|', 'us', 'er|>\nAnd?']], [['a <|use', 'd|> b']], [['ends with <|']]] },
  );
});

test('text that cannot be the beginning of a marker is not held back', () => {
  expect(createTextUntil('<|user|>').push('a < b <')).toEqual({ shown: 'a < b ', ended: false });
  expect(createTextUntil(null).push('a <|user|> b <|')).toEqual({ shown: 'a <|user|> b <|', ended: false });
});
