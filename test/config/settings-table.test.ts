import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withTable } from '../../scripts/settings-table.ts';

test('the table in docs/settings.md matches the schemas', () => {
  const document = readFileSync('docs/settings.md', 'utf8');
  expect(document).toContain(
    '| `topK` | a whole number from 1 to 20 | `5`; offline `8` | `AGENT_TOP_K` | yes |  |',
  );
  expect(withTable(document)).toBe(document);
});
