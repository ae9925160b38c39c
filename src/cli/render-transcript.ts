import { formatCitation } from '../domain/citation.ts';
import { visibleText } from '../domain/visible-text.ts';
import type { RecordedTurn } from '../ports/session-store.ts';

/** A conversation as Markdown: each question a heading, its answer, and the sources with their verdicts. */
export function renderTranscript(title: string, turns: readonly RecordedTurn[]): string {
  const blocks = turns.map(({ turn, feedback }) => {
    const { response } = turn;
    const sources = response.citations
      .filter(({ chunkId }) => chunkId !== null)
      .map(
        (citation) =>
          `- [${citation.marker}] ${formatCitation(citation)} ${citation.score.toFixed(2)} ${citation.verdict}`,
      );
    const judged =
      feedback === null ? [] : [`Judged ${feedback.verdict}${feedback.why ? `: ${feedback.why}` : ''}.`];
    return [
      `## ${turn.userQuery.replace(/\s+/g, ' ')}`,
      response.answer,
      ...(response.grounded ? [] : ['*Not grounded.*']),
      ...(sources.length > 0 ? [sources.join('\n')] : []),
      ...judged,
    ].join('\n\n');
  });
  return visibleText(`${[`# ${title}`, ...blocks].join('\n\n')}\n`);
}
