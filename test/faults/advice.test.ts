import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatAdvice } from '../../src/cli/format-advice.ts';
import {
  type Advice,
  advice,
  formatPlainAdvice,
  ingestAdvice,
  settingName,
  settingValue,
  slashCommand,
  viaCommand,
  withSetting,
} from '../../src/faults/advice.ts';

test.each<[Advice, string, string]>([
  [
    advice`Ask a narrower question, or raise ${settingName('maxSteps')}.`,
    'Ask a narrower question, or raise maxSteps.',
    'Ask a narrower question, or raise --max-steps.',
  ],
  [
    advice`Use a model that can, or ${settingValue('policy', 'always', 'the policy always')}, which needs no tools.`,
    'Use a model that can, or the policy always, which needs no tools.',
    'Use a model that can, or --policy always, which needs no tools.',
  ],
  [
    advice`Ask again, or choose another model${withSetting('model')}.`,
    'Ask again, or choose another model.',
    'Ask again, or choose another model with --model.',
  ],
  [
    advice`Check the collection${viaCommand('doctor')}`,
    'Check the collection.',
    'Check the collection with: citeloop doctor',
  ],
  [
    advice`Remove it${viaCommand('collections delete book')} and ingest again.`,
    'Remove it and ingest again.',
    'Remove it with `citeloop collections delete book` and ingest again.',
  ],
  [
    ingestAdvice('Create', 'book'),
    'Create it by ingesting documents into it.',
    'Create it with: citeloop ingest <path> --collection book',
  ],
  [
    advice`Reset it${slashCommand('reset')}, or start another one.`,
    'Reset it, or start another one.',
    'Reset it with /reset, or start another one.',
  ],
])(
  'prints a hint as a plain sentence, and with flags and commands on the command line',
  (given, plain, flags) => {
    expect(formatPlainAdvice(given)).toBe(plain);
    expect(formatAdvice(given)).toBe(flags);
  },
);

/** Flags of other programs, and hints that only the command line prints. */
const NOT_OURS = /qpdf|--ignore-scripts|pack-destination|--enable|--max-old-space-size|command\(`/;
const OURS =
  /--[a-z$]|citeloop (doctor|ingest|chat|ask|search|sessions|collections|eval|compare|tape|replay|serve|mcp)\b|\/reset\b(?!')/;

// Evaluations and tapes exist on the command line only.
test('messages of the library and the servers name no flags and no commands', () => {
  const files = globSync('src/**/*.{ts,tsx}', {
    exclude: ['src/cli/**', 'src/web/**', 'src/main.ts', 'src/config/**', 'src/evaluation/**', 'src/tape/**'],
  });
  const named = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /['"`]/.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
      .filter((line) => OURS.test(line) && !NOT_OURS.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(named).toEqual([]);
});
