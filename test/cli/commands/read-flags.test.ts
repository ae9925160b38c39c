import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toSettings } from '../../../src/cli/commands/read-flags.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

test('--system-prompt accepts text or @file, and rejects a missing file', async () => {
  const path = join(await createTemporaryDirectory(), 'prompt.txt');
  writeFileSync(path, '\ufeffAnswer in rhymes.\n');
  const promptOf = (systemPrompt: string) =>
    loadConfig({ flags: toSettings({ systemPrompt }), env: {}, cwd: '/' }).agent.systemPrompt;
  expect(promptOf('Be brief.')).toBe('Be brief.');
  expect(promptOf(`@${path}`)).toBe('Answer in rhymes.');
  expect(() => promptOf('@/nowhere/prompt.txt')).toThrow('/nowhere/prompt.txt does not exist');
});
