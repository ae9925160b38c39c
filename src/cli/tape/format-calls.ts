import { oneLine } from '../../domain/visible-text.ts';
import type { Call } from './render-tape.ts';

/** Calls as aligned lines: number, lane, when, how long, what, what came of it, tokens. */
export function formatTable(calls: readonly Call[]): string[] {
  const rows = calls.map(({ id, lane, startedAtMs, durationMs, request, outcome, tokens, chunks }) => [
    String(id),
    lane === 0 ? '' : `lane ${lane}`,
    `+${seconds(startedAtMs)}`,
    seconds(durationMs),
    oneLine(request, 70),
    oneLine(outcome, 30),
    tokens === null ? '' : `${tokens.input} in, ${tokens.output} out`,
    chunks === null ? '' : `${chunks} chunks`,
  ]);
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .filter((_, column) => (widths[column] ?? 0) > 0)
      .join('  ')
      .trimEnd(),
  );
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
