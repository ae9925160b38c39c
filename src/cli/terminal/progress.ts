import type { IngestProgress } from '../../ingest/ingest.ts';
import { cutToWidth, displayWidth } from '../../text/display-width.ts';
import { oneLine } from '../../text/visible-text.ts';
import { canRedraw, createTerminal } from './terminal.ts';

const MAX_BAR_WIDTH = 24;
const MIN_BAR_WIDTH = 8;
const MIN_LABEL_WIDTH = 10;
/** Before this much is done and this much time has passed, the estimate of the time left is unstable. */
const MIN_ESTIMATE_SHARE = 0.01;
const MIN_ESTIMATE_SECONDS = 2;
const MIN_ELAPSED_SECONDS = 5;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;

interface ProgressState {
  done: number;
  /** Null if unknown. */
  total: number | null;
  note?: string;
  /** The time left is estimated from it: done/total unless given; null hides the estimate. */
  share?: number | null;
}

/** A progress line on stderr that moves while work is under way; silent if that is not a terminal. */
export function createProgressBar(label: string, unit = '') {
  const spinner = createSpinner(process.stderr);
  let first: { at: number; share: number } | undefined;

  /** Measured from the first update, because what comes before it, such as loading a model, happens once. */
  function secondsLeft(share: number): number | null {
    const now = performance.now();
    first ??= { at: now, share };
    const [seconds, done] = [(now - first.at) / 1000, share - first.share];
    if (share >= 1 || done < MIN_ESTIMATE_SHARE || seconds < MIN_ESTIMATE_SECONDS) return null;
    return (seconds / done) * (1 - share);
  }

  return {
    update({ done, total, note = '', ...state }: ProgressState): void {
      const { share = total === null ? null : done / Math.max(1, total) } = state;
      const left = share === null ? null : secondsLeft(share);
      const count = `${done}${total === null ? '' : `/${total}`}${unit}`;
      const parts = [count, note, left === null ? '' : `${formatDuration(left)} left`];
      const numbers = parts.filter((part) => part !== '').join(', ');
      const columns = createTerminal(process.stderr).width - 4 - numbers.length;
      // A narrow terminal shows less of the label, not of the numbers.
      const text = `${cutToWidth(label, Math.max(MIN_LABEL_WIDTH, columns))} ${numbers}`;
      const free = columns - displayWidth(label) - 3;
      const width = Math.min(MAX_BAR_WIDTH, free);
      const bar =
        total === null || width < MIN_BAR_WIDTH ? '' : `${formatBar(done / Math.max(1, total), width)} `;
      spinner.show(`${bar}${text}`, { isElapsed: false });
    },
    clear: spinner.hide,
  };
}

/** Shows the documents that are read, then the chunks that are embedded. */
export function createIndexingBar(label: string) {
  const reading = createProgressBar(label);
  const embedding = createProgressBar('Embedding chunks');
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
      const note = chunks === 0 ? 'starting' : `${rate.toFixed(0)}/s`;
      embedding.update({ done: chunks, total: totalChunks, note, share });
    },
    clear(): void {
      reading.clear();
      embedding.clear();
    },
  };
}

function formatBar(share: number, width: number): string {
  const filled = Math.round(Math.min(1, share) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** `8 s`, `3 min 05 s`, `2 h 10 min` */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Of the animated lines of a stream, the one that is drawn. */
const shown = new WeakMap<NodeJS.WriteStream, () => void>();

/** An animated line that is erased when it is hidden. Silent on a stream that cannot redraw lines. */
export function createSpinner(stream: NodeJS.WriteStream) {
  const terminal = createTerminal(stream);
  let current = { label: '', since: 0, isElapsed: true };
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  function draw(): void {
    if (shown.get(stream) !== hide) return;
    const width = Math.max(0, Math.min(stream.columns ?? terminal.width, terminal.width) - 3);
    const seconds = (performance.now() - current.since) / 1000;
    const isShown = current.isElapsed && seconds >= MIN_ELAPSED_SECONDS;
    const elapsed = isShown ? `, ${formatDuration(seconds)}` : '';
    const label = cutToWidth(oneLine(current.label, width), width - elapsed.length) + elapsed;
    const symbol = FRAMES[frame % FRAMES.length] ?? '';
    terminal.status(`${terminal.text(symbol, 'cyan')} ${terminal.text(label, 'dim')}`);
    frame += 1;
  }

  function hide(): void {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    process.off('exit', hide);
    terminal.status('');
  }

  return {
    show(label: string, { isElapsed = true }: { isElapsed?: boolean } = {}): void {
      if (!canRedraw(stream)) return;
      current = { label, since: performance.now(), isElapsed };
      // The line shows the work that was reported last.
      shown.set(stream, hide);
      if (timer === undefined) process.on('exit', hide);
      else if (!isElapsed) return;
      timer ??= setInterval(draw, FRAME_MS).unref();
      draw();
    },
    hide,
  };
}
