import { createTerminal } from './terminal.ts';

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

export interface ProgressBar {
  /** Draws what has changed; `total` is null while it is not known. */
  update(state: { done: number; total: number | null; note?: string }): void;
  /** Takes the bar off the screen. */
  clear(): void;
}

/** A bar with rate and time left on stderr. Where that is not a terminal it stays silent. */
export function createProgressBar(label: string): ProgressBar {
  const terminal = createTerminal(process.stderr);
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update({ done, total, note = '' }) {
      const now = performance.now();
      if (!terminal.interactive || now - drawn < REDRAW_MS) return;
      drawn = now;
      const seconds = (now - started) / 1000;
      const parts = [
        label,
        total === null ? String(done) : `${bar(done / Math.max(1, total))} ${done}/${total}`,
        note,
      ];
      if (total !== null && done > 0 && done < total && seconds > 1) {
        parts.push(`${duration((seconds / done) * (total - done))} left`);
      }
      const line = parts.filter((part) => part !== '').join('  ');
      terminal.write(`\r\x1b[2K${terminal.text(line.slice(0, terminal.width - 1), 'dim')}`);
    },
    clear() {
      if (terminal.interactive && drawn > 0) terminal.write('\r\x1b[2K');
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
