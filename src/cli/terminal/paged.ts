import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { terminalPrograms } from '../../config/terminal-programs.ts';
import { canRedraw, createTerminal, type Streams, type Terminal, withTerminal } from './terminal.ts';
import { visibleWidth } from './wrapping.ts';

/** Shows what is written there: at once where it fits on the screen or a program reads it, else a page at a time. */
export async function paged(
  streams: Streams,
  work: (terminal: Terminal) => void | Promise<void>,
): Promise<void> {
  const { stdout, stdin } = streams;
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
    const isShown = rowsOf(text, columns) > rows - 1 && (await showInPager(text, stdin, terminal));
    if (!isShown) stdout.write(text);
  }
}

/** The rows of a screen that a text fills. */
export function rowsOf(text: string, columns: number): number {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleWidth(line) / columns)), 0);
}

/** Says so, as some would wonder where their prompt is. False if there is no pager. */
async function showInPager(text: string, stdin: NodeJS.ReadStream, terminal: Terminal): Promise<boolean> {
  const { pager, pagerEnvironment } = terminalPrograms();
  const [program = '', ...args] = pager;
  if (program === 'cat') return false;
  const shown = await withTerminal(
    stdin,
    () =>
      new Promise<boolean>((resolve) => {
        const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env: pagerEnvironment });
        child.on('error', () => resolve(false));
        child.on('exit', () => resolve(true));
        // Whoever has read enough leaves before the end.
        child.stdin.on('error', () => {});
        child.stdin.end(text);
      }),
  );
  const said = `Shown in ${basename(program)}, a page at a time; PAGER=cat shows all at once.`;
  if (shown) terminal.write(`${terminal.text(said, 'dim')}\n`);
  return shown;
}
