import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { formatFilter, isEmptyFilter } from '../domain/filter.ts';
import { oneLine } from '../domain/visible-text.ts';
import { excerptOf } from './excerpt.ts';
import { flowLine } from './flow-line.ts';
import { readableUrl } from './render-answer.ts';
import { emptyBecause, placeOf } from './render-ledger.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrap.ts';

const INDENT = '    ';
const EXCERPT_LINES = 3;

/** Prints what a turn retrieved: where each passage comes from, what it says, and its marker if it was cited. */
export function renderSources(terminal: Terminal, { retrievals, response }: ConversationTurn): void {
  const markers = new Map(response.citations.map(({ chunkId, marker }) => [chunkId, marker]));
  const width = terminal.width - INDENT.length;
  retrievals.forEach((retrieval, index) => {
    if (index > 0) terminal.write('\n');
    const filter = isEmptyFilter(retrieval.filter) ? '' : `, only ${formatFilter(retrieval.filter)}`;
    const found = `${retrieval.chunks.length} passages for: ${retrieval.query}${filter}`;
    const bold = (text: string) => terminal.text(text, 'bold');
    terminal.write(`${flowLine(terminal, [{ text: oneLine(found, 200), paint: bold }])}\n`);
    if (retrieval.chunks.length === 0) terminal.write(`${INDENT}${emptyBecause(retrieval)}\n`);
    for (const chunk of retrieval.chunks) {
      const marker = markers.get(chunk.chunkId);
      const label = marker === undefined ? '  - ' : `[${oneLine(marker, 20)}] `;
      const line = flowLine(terminal, [
        { text: label, paint: (text) => terminal.text(text, 'bold') },
        { text: placeOf(chunk), gap: '', paint: (text) => terminal.link(chunk.url, text, 'cyan') },
        { text: chunk.score.toFixed(2), gap: '  ', paint: (text) => terminal.text(text, 'dim') },
      ]);
      terminal.write(`${line}\n`);
      const excerpt = excerptOf(chunk.text, retrieval.query, EXCERPT_LINES * width);
      for (const line of wrap(excerpt, width)) terminal.write(`${INDENT}${line}\n`);
      terminal.write(`${INDENT}${terminal.text(readableUrl(chunk.url), 'dim')}\n`);
    }
  });
}
