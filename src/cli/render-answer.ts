import type { AgentResponse } from '../domain/agent-response.ts';
import { saysNoInformation } from '../domain/agent-response.ts';
import type { Citation, Verdict } from '../domain/citation.ts';
import type { ConversationTurn } from '../domain/conversation-turn.ts';
import { oneLine } from '../domain/visible-text.ts';
import { createWrappingWriter } from './chat/wrapping-writer.ts';
import { flowLine, type Piece } from './flow-line.ts';
import { type Terminal, wrapWidth } from './terminal.ts';

/** What is shown of a turn below its answer. */
export type Answered = Pick<ConversationTurn, 'response' | 'retrievals'>;

const MAX_TITLE = 70;
const INDENT = '    ';

const verdicts: Record<Verdict, { word: string; style: 'green' | 'yellow' | 'red' }> = {
  supported: { word: 'supported', style: 'green' },
  weak: { word: 'weak', style: 'yellow' },
  unsupported: { word: 'unsupported', style: 'red' },
  unknown_source: { word: 'unknown source', style: 'red' },
};

/** The text of an answer, wrapped for a person and as it is for a pipe. */
export function renderText(terminal: Terminal, text: string): void {
  const writer = createWrappingWriter((part) => terminal.write(part), wrapWidth(terminal));
  writer.write(terminal.text(text.trim()));
  writer.end();
}

/** What stands below an answer: its sources and what became of each, and one line on how it came about. */
export function renderFooter(terminal: Terminal, { response, retrievals }: Answered): void {
  const chunks = retrievals.flatMap((retrieval) => retrieval.chunks);
  const headings = new Map(chunks.map((chunk) => [chunk.chunkId, chunk.headings]));
  for (const citation of response.citations.toSorted(byMarker)) {
    terminal.write(`${sourceLine(terminal, citation, headings.get(citation.chunkId ?? '') ?? [])}\n`);
  }
  if (!response.grounded) renderText(terminal, `Not grounded: ${whyNotGrounded(response)}`);
  const dim = (text: string) => terminal.text(text, 'dim');
  terminal.write(`${flowLine(terminal, [{ text: summaryOf(response), paint: dim }], '')}\n`);
}

/** In the order of their numbers; what is no number comes last. */
function byMarker(a: Citation, b: Citation): number {
  return (Number(a.marker) || Number.MAX_SAFE_INTEGER) - (Number(b.marker) || Number.MAX_SAFE_INTEGER);
}

export function verdictPiece(terminal: Terminal, verdict: Verdict): Piece {
  const { word, style } = verdicts[verdict];
  return { text: word, paint: (text) => terminal.text(text, style) };
}

/** `[1] title › heading  0.82 supported  address`; what does not fit moves below. */
function sourceLine(terminal: Terminal, citation: Citation, headings: readonly string[]): string {
  const marker: Piece = {
    text: `[${oneLine(citation.marker, 20)}]`,
    paint: (text) => terminal.text(text, 'bold'),
  };
  const verdict = verdictPiece(terminal, citation.verdict);
  if (citation.verdict === 'unknown_source') {
    const why = { text: ': nothing that was retrieved; taken out of the answer', gap: '' };
    return flowLine(terminal, [marker, verdict, why], INDENT);
  }
  const named = citation.title === '' ? citation.url : citation.title;
  const place = [named, ...headings.filter((heading) => heading !== named)].join(' › ');
  const pieces: Piece[] = [
    marker,
    { text: oneLine(place, MAX_TITLE), paint: (text) => terminal.link(citation.url, text, 'cyan') },
    { text: citation.score.toFixed(2), gap: '  ' },
    verdict,
    { text: readableUrl(citation.url), gap: '  ', paint: (text) => terminal.text(text, 'dim') },
  ];
  return flowLine(terminal, pieces, INDENT);
}

function whyNotGrounded({ answer, citations, retrievalPerformed }: AgentResponse): string {
  if (!retrievalPerformed && citations.length === 0) return 'answered without a search, from no document.';
  if (saysNoInformation(answer)) return 'nothing in the documents that were searched answers this.';
  return citations.length > 0
    ? 'no passage that is cited bears the answer out.'
    : 'the answer cites nothing of what was found.';
}

function summaryOf(response: AgentResponse): string {
  const { model, tokensUsed, retrievalCount, retrievalTimeMs, generationTimeMs, totalTimeMs } = response;
  const searches =
    retrievalCount === 0 ? 'no search' : `${retrievalCount} ${retrievalCount === 1 ? 'search' : 'searches'}`;
  const parts = [
    oneLine(model, 60),
    `${tokensUsed.total} tokens (${tokensUsed.prompt} in, ${tokensUsed.completion} out)`,
    searches,
    `${time(totalTimeMs)} (search ${time(retrievalTimeMs)}, model ${time(generationTimeMs)})`,
  ];
  return parts.join(' · ');
}

function time(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** A file by its path, which is shorter and can be pasted; anything else as it is, on one line. */
export function readableUrl(url: string): string {
  return oneLine(url.startsWith('file://') ? decoded(url.slice('file://'.length)) : url, 300);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
