import type { IngestProgress } from '../../ingest/ingest.ts';
import { cutToWidth } from '../../text/display-width.ts';
import { oneLine } from '../../text/visible-text.ts';
import { canRedraw, createTerminal } from './terminal.ts';

const REDRAW_MS = 100;
const BAR_WIDTH = 24;
/** Before this much is done and this much time has passed, the estimate of the time left is unstable. */
const MIN_ESTIMATE_SHARE = 0.01;
const MIN_ESTIMATE_SECONDS = 2;
const MIN_ELAPSED_SECONDS = 5;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const ERASE_LINE = '\r\x1b[2K';

interface ProgressState {
  done: number;
  /** Null if unknown. */
  total: number | null;
  note?: string;
  /** The time left is estimated from it: done/total unless given; null hides the estimate. */
  share?: number | null;
}

/** A progress bar on stderr; silent if that is not a terminal. */
export function createProgressBar(label: string) {
  const terminal = createTerminal(process.stderr);
  let first: { at: number; share: number } | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;

  /** Measured from the first update, because what comes before it, such as loading a model, happens once. */
  function secondsLeft(share: number, now: number): number | null {
    first ??= { at: now, share };
    const [seconds, done] = [(now - first.at) / 1000, share - first.share];
    if (share >= 1 || done < MIN_ESTIMATE_SHARE || seconds < MIN_ESTIMATE_SECONDS) return null;
    return (seconds / done) * (1 - share);
  }

  /** Also runs when the process exits. */
  function clear(): void {
    if (drawnAt < 0) return;
    drawnAt = Number.NEGATIVE_INFINITY;
    process.off('exit', clear);
    terminal.write(ERASE_LINE);
  }

  return {
    update({ done, total, note = '', ...state }: ProgressState): void {
      const { share = total === null ? null : done / Math.max(1, total) } = state;
      const now = performance.now();
      const left = share === null ? null : secondsLeft(share, now);
      if (!terminal.interactive || now - drawnAt < REDRAW_MS) return;
      if (drawnAt < 0) process.on('exit', clear);
      drawnAt = now;
      const count =
        total === null ? String(done) : `${formatBar(done / Math.max(1, total))} ${done}/${total}`;
      const parts = [label, count, note, left === null ? '' : `${formatDuration(left)} left`];
      const line = parts.filter((part) => part !== '').join('  ');
      terminal.write(ERASE_LINE + terminal.text(cutToWidth(line, terminal.width - 1), 'dim'));
    },
    clear,
  };
}

/** Shows the documents that are read, then the chunks that are embedded. */
export function createIndexingBar(label: string) {
  const reading = createProgressBar(label);
  const embedding = createProgressBar('Embedding');
  let startedAt: number | undefined;
  return {
    update({ documents, totalDocuments, reading: path, embedding: progress }: IngestProgress): void {
      if (progress === null) {
        // Documents differ too much in length to estimate the time left.
        reading.update({ done: documents, total: totalDocuments, note: path ?? '', share: null });
        return;
      }
      reading.clear();
      const { chunks, totalChunks, share } = progress;
      startedAt ??= performance.now();
      const rate = chunks / ((performance.now() - startedAt) / 1000);
      const note = chunks === 0 ? 'chunks' : `chunks, ${rate.toFixed(0)}/s`;
      embedding.update({ done: chunks, total: totalChunks, note, share });
    },
    clear(): void {
      reading.clear();
      embedding.clear();
    },
  };
}

function formatBar(share: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

/** `8 s`, `3 min 05 s`, `2 h 10 min` */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** An animated line that is erased when it is hidden. Silent on a stream that cannot redraw lines. */
export function createSpinner(stream: NodeJS.WriteStream) {
  const terminal = createTerminal(stream);
  let current = { label: '', since: 0 };
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  function draw(): void {
    const width = Math.max(0, Math.min(stream.columns ?? terminal.width, terminal.width) - 3);
    const seconds = (performance.now() - current.since) / 1000;
    const elapsed = seconds < MIN_ELAPSED_SECONDS ? '' : `, ${formatDuration(seconds)}`;
    const label = cutToWidth(oneLine(current.label, width), width - elapsed.length) + elapsed;
    const symbol = FRAMES[frame % FRAMES.length] ?? '';
    terminal.write(`${ERASE_LINE}${terminal.text(symbol, 'cyan')} ${terminal.text(label, 'dim')}`);
    frame += 1;
  }

  function hide(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    process.off('exit', hide);
    terminal.write(ERASE_LINE);
  }

  return {
    show(label: string): void {
      if (!canRedraw(stream)) return;
      current = { label, since: performance.now() };
      if (timer === undefined) process.on('exit', hide);
      timer ??= setInterval(draw, FRAME_MS).unref();
      draw();
    },
    hide,
  };
}
