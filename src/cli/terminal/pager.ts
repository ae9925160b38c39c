import { spawn } from 'node:child_process';
import { readTerminalPrograms } from '../../config/terminal-programs.ts';
import {
  canRedraw,
  createTerminal,
  type ProcessStreams,
  releaseTerminal,
  type Terminal,
} from './terminal.ts';
import { visibleWidth } from './wrap-text.ts';

/** Writes the output of `work` to stdout, through the pager if it does not fit on the screen. */
export async function withPager(
  { stdout, stdin }: ProcessStreams,
  work: (terminal: Terminal) => void | Promise<void>,
): Promise<void> {
  const terminal = createTerminal(stdout);
  if (stdin.isTTY !== true || !canRedraw(stdout)) return void (await work(terminal));
  let text = '';
  try {
    await work({
      ...terminal,
      write: (part) => {
        text += part;
      },
    });
  } finally {
    const { rows = Number.POSITIVE_INFINITY, columns = terminal.width } = stdout;
    const isPaged = countRows(text, columns) > rows - 1 && (await runPager(text, stdin));
    if (!isPaged) stdout.write(text);
  }
}

export function countRows(text: string, columns: number): number {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0);
}

/** Returns false if there is no pager. */
async function runPager(text: string, stdin: NodeJS.ReadStream): Promise<boolean> {
  const { pager, pagerEnvironment } = readTerminalPrograms();
  const [program = '', ...args] = pager;
  if (program === 'cat') return false;
  return releaseTerminal(
    stdin,
    () =>
      new Promise<boolean>((resolve) => {
        const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env: pagerEnvironment });
        child.on('error', () => resolve(false));
        child.on('exit', () => resolve(true));
        // The pager may exit before it has read everything.
        child.stdin.on('error', () => {});
        child.stdin.end(text);
      }),
  );
}
