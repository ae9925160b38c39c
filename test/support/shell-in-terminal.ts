import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { endWithParent } from './end-with-parent.ts';

/** Without the configuration of the user. */
const shells = {
  bash: 'bash --norc --noprofile -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
} as const;

export type Shell = keyof typeof shells;

/** Whether the shell can run in a terminal. If not, it prints a warning, or throws if CI=true. */
export function isShellAvailable(shell: Shell): boolean {
  const missing = [shell, 'script'].filter(
    (program) => spawnSync(program, ['--version']).error !== undefined,
  );
  if (missing.length === 0) return true;
  const message = `Not on the PATH: ${missing.join(', ')}.`;
  if (process.env.CI === 'true') throw new Error(message);
  process.stderr.write(
    `\n${'='.repeat(78)}\nSKIPPED: tests of completion in ${shell} did not run.\n${message}\n` +
      `Install it to run them, for example: apt-get install ${shell} bsdutils\n${'='.repeat(78)}\n\n`,
  );
  return false;
}

interface ShellInTerminal {
  /** Types keys (a line feed is Enter), waits until the output contains `until`, and returns the output. */
  type(keys: string, until: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens an interactive shell in a pseudo-terminal. */
export function openShell(shell: Shell, env: Record<string, string>): ShellInTerminal {
  const child = endWithParent(
    spawn('script', ['--quiet', '--flush', '--command', shells[shell], '/dev/null'], {
      env: { TERM: 'xterm', SHELL: '/bin/sh', ...env },
    }),
  );
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return {
    async type(keys, until) {
      const before = shown.length;
      const since = () => stripVTControlCharacters(shown.slice(before));
      child.stdin.write(keys);
      while (!since().includes(until)) {
        if (child.exitCode !== null) throw new Error(`${shell} exited after: ${shown}`);
        await delay(20);
      }
      return since();
    },
    async close() {
      child.kill();
      child.stdin.destroy();
      await closed;
    },
  };
}
