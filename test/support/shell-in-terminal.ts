import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { endWithParent } from './end-with-parent.ts';

/** Without what this machine's user has set up for them. */
const shells = {
  bash: 'bash --norc --noprofile -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
} as const;

export type Shell = keyof typeof shells;

/** Whether a shell can be run in a terminal here. Says loudly where it cannot; where CI=true that is a failure. */
export function canTypeInto(shell: Shell): boolean {
  const lacking = [shell, 'script'].filter(
    (program) => spawnSync(program, ['--version']).error !== undefined,
  );
  if (lacking.length === 0) return true;
  const message = `There is no ${lacking.join(' and no ')} on the PATH.`;
  if (process.env.CI === 'true') throw new Error(message);
  process.stderr.write(
    `\n${'='.repeat(78)}\nSKIPPED: what Tab does in ${shell} was NOT tried.\n${message}\n` +
      `Install it to try that, for example: apt-get install ${shell} bsdutils\n${'='.repeat(78)}\n\n`,
  );
  return false;
}

interface ShellInTerminal {
  /** Types keys, a line feed being Enter, and waits until the screen has shown this since; returns what it has shown. */
  type(keys: string, until: string): Promise<string>;
  close(): Promise<void>;
}

/** A shell that a person sits at: what it is sent are keys, Tab among them. */
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
        if (child.exitCode !== null) throw new Error(`${shell} has ended after: ${shown}`);
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
