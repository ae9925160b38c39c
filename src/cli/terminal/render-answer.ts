import type { AgentResponse } from '../../domain/agent-response.ts';
import { standingOf } from '../../domain/answer-doubts.ts';
import { type Citation, formatCitation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { Location } from '../../domain/location.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { describeLocation, linkTo } from '../../domain/show-location.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import { fileIsGone } from '../../retrieval/chunk-changes.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { onCommandLine } from '../advice.ts';
import { renderUnsupportedWords, verdictPiece } from './render-sentences.ts';
import type { Terminal } from './terminal.ts';
import { flowLine, type Piece, renderText } from './wrapping.ts';

/** What is shown of a turn below its answer. */
type ShownTurn = Pick<ConversationTurn, 'response' | 'retrievals'>;

interface FooterView {
  /** Whether the answer was printed as it was made. */
  streamed?: boolean;
  inChat?: boolean;
  /** The marks of passages of which not all was printed. */
  inPart?: readonly string[];
  priceOf?: PriceOf | undefined;
}

const MAX_TITLE = 70;
const INDENT = '    ';
const GONE = 'the file is gone';

/**
 * What stands below an answer: its sources and what became of each, and one line on how it came about. An answer that
 * was printed as it was made still shows what was then taken out of it.
 */
export function renderFooter(
  terminal: Terminal,
  { response, retrievals }: ShownTurn,
  { streamed = false, inChat = false, inPart = [], priceOf }: FooterView = {},
): void {
  const chunks = retrievals.flatMap((retrieval) => retrieval.chunks);
  const cited = new Map(chunks.map((chunk) => [chunk.chunkId, chunk]));
  for (const citation of response.citations.toSorted(byMarker)) {
    const line =
      citation.verdict === 'unknown_source'
        ? unknownLine(terminal, citation, streamed)
        : sourceLine(terminal, citation, {
            chunk: cited.get(citation.chunkId ?? ''),
            quietly: response.outcome !== 'answer',
          });
    terminal.write(`${line}\n`);
  }
  renderUnsupportedWords(terminal, response);
  const { said, isFault } = standingOf(response);
  renderText(terminal, onCommandLine(said, { inChat }), isFault ? { style: 'yellow' } : {});
  if (inPart.length > 0) renderText(terminal, restOf(inPart, inChat));
  const dim = (text: string) => terminal.text(text, 'dim');
  terminal.write(`${flowLine(terminal, [{ text: summaryOf(response, priceOf), paint: dim }], '')}\n`);
}

function restOf(inPart: readonly string[], inChat: boolean): string {
  const commands = inPart.map((marker) => `${inChat ? '/source' : 'citeloop open'} ${oneLine(marker, 20)}`);
  return `Shown in part; the rest: ${commands.join(', ')}`;
}

/** The same for whoever reads Markdown: the sources as a list, and whether they bear the answer out. */
export function renderMarkdownFooter(terminal: Terminal, response: AgentResponse): void {
  const blocks = markdownFooter(response);
  if (blocks.length > 0) terminal.write(`${terminal.text(blocks.join('\n\n'))}\n`);
}

export function markdownFooter(response: AgentResponse): string[] {
  const sources = response.citations
    .filter(({ chunkId }) => chunkId !== null)
    .map(
      (citation) =>
        `- [${citation.marker}] ${formatCitation(citation)} ${citation.score.toFixed(2)} ${citation.verdict}${citation.gone ? `, ${GONE}` : ''}`,
    );
  const standing = response.grounded ? [] : [`*${onCommandLine(standingOf(response).said)}*`];
  return [...standing, ...(sources.length > 0 ? [sources.join('\n')] : [])];
}

/** In the order of their numbers; what is no number comes last. */
function byMarker(a: Citation, b: Citation): number {
  return (Number(a.marker) || Number.MAX_SAFE_INTEGER) - (Number(b.marker) || Number.MAX_SAFE_INTEGER);
}

/** `[1] title › heading, lines 3–9  0.82 supported  address`; what does not fit moves below. */
function sourceLine(
  terminal: Terminal,
  citation: Citation,
  { chunk, quietly }: { chunk: RetrievedChunk | undefined; quietly: boolean },
): string {
  const named = citation.title === '' ? citation.url : citation.title;
  const place = [named, ...(chunk?.headings ?? []).filter((heading) => heading !== named)].join(' › ');
  const pieces: Piece[] = [
    markerPiece(terminal, citation),
    {
      text: oneLine(place, MAX_TITLE),
      paint: (text) => terminal.link(openable(chunk ?? citation), text, 'cyan'),
    },
    ...(citation.location ? [{ text: describeLocation(citation.location), gap: ', ' }] : []),
    { text: citation.score.toFixed(2), gap: '  ' },
    verdictPiece(terminal, citation.verdict, { quietly }),
    { text: readableUrl(citation.url), gap: '  ', paint: (text) => terminal.text(text, 'dim') },
    ...(chunk !== undefined && fileIsGone(chunk) ? [goneWord(terminal)] : []),
  ];
  return flowLine(terminal, pieces, INDENT);
}

/** Said of a source whose file is no longer there, until `ingest --prune` forgets it. */
export function goneWord(terminal: Terminal): Piece {
  return { text: `(${GONE})`, paint: (text) => terminal.text(text, 'yellow') };
}

function unknownLine(terminal: Terminal, citation: Citation, streamed: boolean): string {
  const text = streamed
    ? ': nothing that was retrieved; it still stands above, and is taken out of the answer that is kept'
    : ': nothing that was retrieved; taken out of the answer';
  const pieces = [markerPiece(terminal, citation), verdictPiece(terminal, citation.verdict)];
  return flowLine(terminal, [...pieces, { text, gap: '' }], INDENT);
}

function markerPiece(terminal: Terminal, { marker }: Citation): Piece {
  return { text: `[${oneLine(marker, 20)}]`, paint: (text) => terminal.text(text, 'bold') };
}

function summaryOf(response: AgentResponse, priceOf: PriceOf = () => null): string {
  const { model, tokensUsed, retrievalCount, retrievalTimeMs, generationTimeMs, totalTimeMs } = response;
  const searches = retrievalCount === 0 ? 'no search' : counted(retrievalCount, 'search', 'searches');
  const parts = [
    oneLine(model, 60),
    `${tokensUsed.estimated ? 'about ' : ''}${tokensUsed.total} tokens (${tokensUsed.prompt} in, ${tokensUsed.completion} out)`,
    searches,
    `${time(totalTimeMs)} (search ${time(retrievalTimeMs)}, model ${time(generationTimeMs)})`,
  ];
  const price = priceOf(model, tokensUsed);
  if (price !== null) parts.splice(2, 0, `costs ${money(price)}`);
  return parts.join(' · ');
}

/** In whatever currency the prices are; small amounts with the digits that say something. */
export function money(amount: number): string {
  return amount === 0 ? '0' : amount.toFixed(Math.max(2, Math.min(6, 2 - Math.floor(Math.log10(amount)))));
}

export function time(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** What a click is to open: the page, or the file where this machine keeps it, at its very place if a link can say that. */
export function openable({
  url,
  uri,
  location,
}: {
  url: string;
  uri?: string | undefined;
  location?: Location | undefined;
}): string {
  if (/^https?:/i.test(url)) return linkTo(url, location);
  // Terminals that go to a line take it from here; others open the file.
  return uri !== undefined && location?.unit === 'line'
    ? `${uri}#${location.from}`
    : linkTo(uri ?? url, location);
}

/** The place of a file as people write paths; anything else as it is, on one line. */
export function readableUrl(url: string): string {
  return oneLine(/^https?:/i.test(url) ? url : decoded(url.replace(/^file:\/\//, '')), 300);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
