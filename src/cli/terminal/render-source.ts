import type { Citation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { AppError } from '../../faults/app-error.ts';
import type { StoredChunk } from '../../ports/chunk-store.ts';
import { isFileDeleted } from '../../retrieval/deleted-files.ts';
import type { TextRange } from '../../text/markdown-blocks.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import {
  formatMarker,
  formatSourcePlace,
  formatUrl,
  missingFilePiece,
  toSourceLink,
  verdictPiece,
} from './format-source.ts';
import { type Terminal, wrapWidth } from './terminal.ts';
import { renderText, type TextRun, wrapPieces, wrapRuns } from './wrap-text.ts';

export interface CitedSource {
  citation: Citation;
  /** Null if no turn of the session keeps the passage. */
  chunk: RetrievedChunk | null;
  turn: ConversationTurn;
}

/** The source of a marker in the newest answer that has it. Throws `invalid_input` with the known markers. */
export function findCitedSource(turns: readonly ConversationTurn[], marker: string): CitedSource {
  const wanted = marker.replace(/^\[|\]$/g, '').trim();
  for (const turn of turns.toReversed()) {
    const citation = turn.response.citations.find((each) => each.marker === wanted && each.chunkId !== null);
    if (citation === undefined) continue;
    const chunk = turns
      .flatMap(({ retrievals }) => retrievals.flatMap(({ chunks }) => chunks))
      .findLast(({ chunkId }) => chunkId === citation.chunkId);
    return { citation, chunk: chunk ?? null, turn };
  }
  const citations = turns.flatMap(({ response }) => response.citations);
  const known = new Set(citations.flatMap(({ marker: text, chunkId }) => (chunkId === null ? [] : [text])));
  const { compare } = new Intl.Collator('en', { numeric: true });
  const given = oneLine(wanted, 20);
  const problem = wanted === '' ? 'Give the number of a source.' : `"${given}" is not a source number.`;
  const message = /^\d+$/.test(wanted) ? `No answer cites [${given}].` : problem;
  throw new AppError('invalid_input', message, {
    hint:
      known.size === 0
        ? 'Nothing is cited yet.'
        : `Cited sources: ${[...known].toSorted(compare).map(formatMarker).join(', ')}.`,
  });
}

/** Prints a cited passage and those around it, with the evidence of the answer marked. */
export function renderCitedSource(
  terminal: Terminal,
  { citation, chunk, turn }: CitedSource,
  around: readonly StoredChunk[],
): void {
  const cited = around.find(({ chunkId }) => chunkId === citation.chunkId) ?? chunk;
  const target = toSourceLink(cited ?? citation);
  const pieces = [
    { text: formatMarker(citation.marker), paint: (part: string) => terminal.text(part, 'bold') },
    {
      text: cited === null ? citation.title : formatSourcePlace(cited),
      paint: (part: string) => terminal.link(target, part, 'cyan'),
    },
    verdictPiece(terminal, citation.verdict),
    ...(cited !== null && isFileDeleted(cited) ? [missingFilePiece(terminal)] : []),
  ];
  terminal.write(`${wrapPieces(terminal, pieces)}\n`);
  renderText(terminal, formatUrl(citation.url), { style: 'dim' });
  terminal.write('\n');
  const passages = around.length > 0 ? around : chunk === null ? [] : [chunk];
  if (passages.length === 0) terminal.write('The passage is no longer in the collection.\n');
  passages.forEach((passage, index) => {
    if (index > 0) terminal.write('\n');
    const isCited = passage.chunkId === citation.chunkId;
    // The offsets of the evidence are wrong in a passage that has changed.
    const isChanged = chunk !== null && passage.contentHash !== chunk.contentHash;
    const runs = isCited
      ? markEvidence(terminal, passage.text, isChanged ? [] : evidenceRanges(turn, citation.chunkId))
      : [{ text: visibleText(passage.text), paint: (part: string) => terminal.text(part, 'dim') }];
    for (const line of wrapRuns(runs, wrapWidth(terminal), { keepIndents: true }))
      terminal.write(`${line}\n`);
    if (isCited && isChanged)
      terminal.write(`${terminal.text('This passage has changed since it was cited.', 'yellow')}\n`);
  });
}

function evidenceRanges({ response }: ConversationTurn, chunkId: string | null): TextRange[] {
  return response.sentences
    .flatMap(({ evidence, refs }) =>
      evidence !== null && evidence.chunkId === chunkId && refs.length > 0 ? [evidence] : [],
    )
    .toSorted((a, b) => a.start - b.start);
}

/** Underlined on a terminal with colours, else between » and «. */
function markEvidence(terminal: Terminal, text: string, ranges: readonly TextRange[]): TextRun[] {
  const runs: TextRun[] = [];
  let at = 0;
  const strong = (part: string) => terminal.text(part, ['bold', 'underline']);
  for (const { start, end } of ranges) {
    if (start < at || end > text.length) continue;
    const marked = visibleText(text.slice(start, end));
    runs.push({ text: visibleText(text.slice(at, start)) });
    runs.push({ text: terminal.colours ? marked : `»${marked}«`, paint: strong });
    at = end;
  }
  return [...runs, { text: visibleText(text.slice(at)) }];
}
