import { oneLine } from '../../domain/visible-text.ts';
import { createTerminal } from '../terminal.ts';
import { canRedraw } from './streams.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;

/** Says what is going on while there is nothing else to read, on a line that leaves no trace. */
export interface Spinner {
  /** A function is asked again for every frame, so that what it says can change. */
  show(label: string | (() => string)): void;
  hide(): void;
}

/** Silent where a line cannot be redrawn. */
export function createSpinner(stream: NodeJS.WriteStream): Spinner {
  if (!canRedraw(stream)) return { show() {}, hide() {} };
  const terminal = createTerminal(stream);
  let current: () => string = () => '';
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  function draw(): void {
    const width = Math.max(0, Math.min(stream.columns ?? terminal.width, terminal.width) - 3);
    const label = terminal.text(oneLine(current(), width), 'dim');
    terminal.write(`\r\x1b[2K${terminal.text(FRAMES[frame % FRAMES.length] ?? '', 'cyan')} ${label}`);
    frame += 1;
  }

  return {
    show(label) {
      current = typeof label === 'string' ? () => label : label;
      timer ??= setInterval(draw, FRAME_MS).unref();
      draw();
    },
    hide() {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      terminal.write('\r\x1b[2K');
    },
  };
}

/** A message that says how long it waits ("… in 12 s"), counted down from now on; null for any other. */
export function countdown(message: string, clock: () => number = () => performance.now()) {
  // The last one: a service may have said how long it would wait.
  const wait = Array.from(message.matchAll(/\bin (\d+(?:\.\d+)?) s\b/g)).at(-1);
  if (wait === undefined) return null;
  const until = clock() + Number(wait[1]) * 1000;
  const before = message.slice(0, wait.index);
  const after = message.slice(wait.index + wait[0].length);
  return () => {
    const left = Math.ceil((until - clock()) / 1000);
    return `${before}${left > 0 ? `in ${left} s` : 'now'}${after}`;
  };
}
