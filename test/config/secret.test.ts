import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecret } from '../../src/config/secret.ts';

test('reveals its value only through reveal()', () => {
  expect(createSecret('sk-test').reveal()).toBe('sk-test');
});

test('is never printed, alone or in an object', () => {
  fc.assert(
    fc.property(fc.uuid(), (value) => {
      const secret = createSecret(value);
      const holder = { nested: [{ secret }], copy: { ...secret } };
      const prints = [
        `${secret}`,
        String(secret),
        `${secret} as text`.concat('!'),
        JSON.stringify(secret),
        JSON.stringify(holder),
        inspect(secret),
        inspect(holder, { depth: null, showHidden: true, getters: true }),
        inspect(new Map([[secret, holder]]), { depth: null }),
        Object.values(secret).map(String).join(),
        new Error(`with ${secret}`, { cause: holder }).message,
      ];
      for (const print of prints) expect(print).not.toContain(value);
    }),
  );
  expect(`${createSecret('sk-test')}`).toBe('[redacted]');
  expect(JSON.stringify({ key: createSecret('sk-test') })).toBe('{"key":"[redacted]"}');
  expect(inspect(createSecret('sk-test'))).toBe('[redacted]');
});
