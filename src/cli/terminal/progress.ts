import { type Retry, retryNotice } from '../../faults/retry.ts';
import type { IngestProgress } from '../../ingest/ingest.ts';
import { cutToWidth } from '../../text/display-width.ts';
import { oneLine } from '../../text/visible-text.ts';
import { canRedraw, createTerminal } from './terminal.ts';

const REDRAW_MS = 100;
const BAR_WIDTH = 24;
/** Before this much is done and this long has passed, a guess at the time left would swing. */
const LEAST_SHARE = 0.01;
const LEAST_SECONDS = 2;
const WORTH_TELLING_SECONDS = 5;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;

interface ProgressBar {
  /**
   * Draws what has changed; `total` is null while it is not known. The time left is guessed by what is done of the
   * total, unless whoever knows better says how much of the work `share` is, or that it cannot be told: null.
   */
  update(state: { done: number; total: number | null; note?: string; share?: number | null }): void;
  /** Takes the bar off the screen; done by itself when the process ends. */
  clear(): void;
}

/** A bar with rate and time left on stderr. Where that is not a terminal it stays silent. */
export function createProgressBar(label: string): ProgressBar {
  const terminal = createTerminal(process.stderr);
  let first: { at: number; share: number } | undefined;
  let drawn = Number.NEGATIVE_INFINITY;

  /** By what was done since the first report: what came before it, loading a model say, comes but once. */
  function secondsLeft(share: number, now: number): number | null {
    first ??= { at: now, share };
    const [seconds, done] = [(now - first.at) / 1000, share - first.share];
    if (share >= 1 || done < LEAST_SHARE || seconds < LEAST_SECONDS) return null;
    return (seconds / done) * (1 - share);
  }

  function clear(): void {
    if (drawn < 0) return;
    drawn = Number.NEGATIVE_INFINITY;
    process.off('exit', clear);
    terminal.write('\r\x1b[2K');
  }

  return {
    update({ done, total, note = '', share = total === null ? null : done / Math.max(1, total) }) {
      const now = performance.now();
      const left = share === null ? null : secondsLeft(share, now);
      if (!terminal.interactive || now - drawn < REDRAW_MS) return;
      if (drawn < 0) process.on('exit', clear);
      drawn = now;
      const parts = [
        label,
        total === null ? String(done) : `${bar(done / Math.max(1, total))} ${done}/${total}`,
        note,
      ];
      if (left !== null) parts.push(`${duration(left)} left`);
      const line = parts.filter((part) => part !== '').join('  ');
      terminal.write(`\r\x1b[2K${terminal.text(cutToWidth(line, terminal.width - 1), 'dim')}`);
    },
    clear,
  };
}

/** A bar that counts documents as they are read, and then the chunks that are embedded. */
export function createIndexingBar(label: string) {
  const reading = createProgressBar(label);
  const embedding = createProgressBar('Embedding');
  let started: number | undefined;
  return {
    update({ documents, totalDocuments, reading: path, embedding: progress }: IngestProgress): void {
      // Documents differ too much in length to tell how long the others will take.
      if (progress === null) {
        reading.update({ done: documents, total: totalDocuments, note: path ?? '', share: null });
        return;
      }
      reading.clear();
      const { chunks, totalChunks, share } = progress;
      started ??= performance.now();
      const rate = chunks / ((performance.now() - started) / 1000);
      const note = chunks === 0 ? 'chunks' : `chunks, ${rate.toFixed(0)}/s`;
      embedding.update({ done: chunks, total: totalChunks, note, share });
    },
    clear(): void {
      reading.clear();
      embedding.clear();
    },
  };
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

/** Seconds as people say them: 8 s, 3 min 05 s, 2 h 10 min. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Says what is going on while there is nothing else to read, on a line that leaves no trace. */
interface Spinner {
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
    const label = terminal.text(cutToWidth(oneLine(current(), width), width), 'dim');
    terminal.write(`\r\x1b[2K${terminal.text(FRAMES[frame % FRAMES.length] ?? '', 'cyan')} ${label}`);
    frame += 1;
  }

  function hide(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    process.off('exit', hide);
    terminal.write('\r\x1b[2K');
  }

  return {
    show(label) {
      current = typeof label === 'string' ? () => label : label;
      if (timer === undefined) process.on('exit', hide);
      timer ??= setInterval(draw, FRAME_MS).unref();
      draw();
    },
    hide,
  };
}

/** The label of a phase, with its elapsed time once it takes a few seconds. */
export function withElapsed(label: string, clock: () => number = () => performance.now()) {
  const start = clock();
  return () => {
    const seconds = (clock() - start) / 1000;
    return seconds < WORTH_TELLING_SECONDS ? label : `${label}, ${duration(seconds)}`;
  };
}

/** What is said of a wait while it lasts, counted down from now on. */
export function countdown(retry: Retry<{ message: string }>, clock: () => number = () => performance.now()) {
  const until = clock() + retry.waitMs;
  return () => retryNotice({ ...retry, waitMs: until - clock() });
}
