import { expect, test } from 'vitest';
import { toFileError } from '../../../src/adapters/files/read-source-file.ts';

test.each([
  ['EACCES', 'cannot be read: permission denied.'],
  ['EMFILE', 'cannot be opened: too many files are open.'],
  ['ESTALE', 'cannot be read: ESTALE: something happened.'],
])('reports the system error %s as: %s', (code, sentence) => {
  const error = Object.assign(new Error(`${code}: something happened`), { code });
  expect(toFileError('a.md', error)).toMatchObject({ kind: 'invalid_input', message: `a.md ${sentence}` });
});
