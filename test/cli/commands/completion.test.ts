import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyHomeWithBook } from '../../support/prepared-home.ts';
import { environmentOf, PROGRAM } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { canTypeInto, openShell, type Shell } from '../../support/shell-in-terminal.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** How each takes up completion in a shell that runs already. */
const setup: Record<Shell, string> = {
  bash: 'source <(citeloop completion bash)',
  zsh: 'source <(citeloop completion zsh)',
  fish: 'citeloop completion fish | source',
};

/** The program, but for running commands: it shows which words the shell made of what was typed. */
const standIn = `#!/bin/sh
case "$1" in --complete|completion) exec "${process.execPath}" "${PROGRAM}" "$@" ;; esac
printf 'typed'
printf ' <%s>' "$@"
printf ' end\\n'
`;

/** A machine with a collection, and with names that a shell has to quote. */
async function machine(): Promise<string> {
  const home = await temporaryDirectory();
  await copyHomeWithBook(home);
  await runInProcess(['config', 'set', 'model', 'my model:8b'], { home });
  await mkdir(join(home, 'bin'));
  await mkdir(join(home, 'my docs'));
  await writeFile(join(home, 'bin', 'citeloop'), standIn, { mode: 0o755 });
  return home;
}

async function personAt(shell: Shell, home: string) {
  const env = environmentOf(home);
  const { type, close } = openShell(shell, { ...env, PATH: `${join(home, 'bin')}:${env.PATH}` });
  onTestFinished(close);
  await type(`cd '${home}'; ${setup[shell]}; echo re''ady\n`, 'ready');
  return {
    type,
    /** The words that came of a line once Tab was pressed behind it. */
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
    if (!canTypeInto(shell)) return skip();
    const { completed, type } = await personAt(shell, await machine());
    // What there is to offer is tried without a shell; here is what shells take apart, quote and put together.
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
    // Where the program knows nothing to offer, there are files.
    expect(await completed('citeloop ingest my')).toMatch(/^<ingest> <my docs\/?>$/);
    expect(await type('citeloop se\t\t', 'sessions')).toContain('search');
  },
);
