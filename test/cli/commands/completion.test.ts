import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { createCliEnvironment, PROGRAM_PATH } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { isShellAvailable, openShell, type Shell } from '../../support/shell-in-terminal.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** Enables completion in a running shell. */
const setup: Record<Shell, string> = {
  bash: 'source <(citeloop completion bash)',
  zsh: 'source <(citeloop completion zsh)',
  fish: 'citeloop completion fish | source',
};

/** Runs citeloop for completion only; otherwise prints the words that the shell passed. */
const standIn = `#!/bin/sh
case "$1" in --complete|completion) exec "${process.execPath}" "${PROGRAM_PATH}" "$@" ;; esac
printf 'typed'
printf ' <%s>' "$@"
printf ' end\\n'
`;

/** A data directory with a collection, and names that a shell must quote. */
async function machine(): Promise<string> {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  await runInProcess(['config', 'set', 'model', 'my model:8b'], { home });
  await mkdir(join(home, 'bin'));
  await mkdir(join(home, 'my docs'));
  await writeFile(join(home, 'bin', 'citeloop'), standIn, { mode: 0o755 });
  return home;
}

async function personAt(shell: Shell, home: string) {
  const env = createCliEnvironment(home);
  const { type, close } = openShell(shell, { ...env, PATH: `${join(home, 'bin')}:${env.PATH}` });
  onTestFinished(close);
  await type(`cd '${home}'; ${setup[shell]}; echo re''ady\n`, 'ready');
  return {
    type,
    /** The words of a line after Tab was pressed at its end. */
    async completed(line: string): Promise<string> {
      const shown = await type(`${line}\t\n`, ' end');
      return /typed (.*) end/.exec(shown)?.[1] ?? shown;
    },
  };
}

test.for(['bash', 'zsh', 'fish'] as const)(
  'Tab completes in %s',
  { timeout: 120_000 },
  async (shell, { skip }) => {
    if (!isShellAvailable(shell)) return skip();
    const { completed, type } = await personAt(shell, await machine());
    // Candidates are tested without a shell; these lines test how shells split, quote and join words.
    expect(await completed('citeloop sessions ex')).toBe('<sessions> <export>');
    expect(await completed('citeloop ask x --pol')).toBe('<ask> <x> <--policy>');
    expect(await completed('citeloop ask x --policy=al')).toBe('<ask> <x> <--policy=always>');
    expect(await completed('citeloop ask x --collection sam')).toBe('<ask> <x> <--collection> <sample_book>');
    expect(await completed('citeloop ask x --model my')).toBe('<ask> <x> <--model> <my model:8b>');
    expect(await completed('citeloop ask x --model my\\ model:8')).toBe('<ask> <x> <--model> <my model:8b>');
    expect(await completed('citeloop ask x --model=my')).toBe('<ask> <x> <--model=my model:8b>');
    expect(await completed('citeloop ask "two words" --model of')).toBe(
      '<ask> <two words> <--model> <offline>',
    );
    // Without candidates the shell completes files.
    expect(await completed('citeloop ingest my')).toMatch(/^<ingest> <my docs\/?>$/);
    expect(await type('citeloop se\t\t', 'sessions')).toContain('search');
  },
);
