import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

test('every exported name of src is declared once', () => {
  const files = new Map<string, string[]>();
  for (const file of globSync('src/**/*.{ts,tsx}')) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(DECLARATION)) {
      files.set(name, [...new Set([...(files.get(name) ?? []), file])]);
    }
  }
  const repeated = [...files].filter(([, declaring]) => declaring.length > 1);
  expect(Object.fromEntries(repeated)).toEqual({});
});
