import type { AgentResponse } from '../../domain/agent-response.ts';
import { describeAnswerStatus, describeFlag, findFlagged, listEvidence } from '../../domain/answer-status.ts';
import { type Citation, formatCitation, isPassedCitation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import { formatLocation } from '../../domain/format-location.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import type { CalculatePrice } from '../../evaluation/run/model-prices.ts';
import { isFileDeleted } from '../../retrieval/deleted-files.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import { formatMarker, formatUrl, missingFilePiece, toSourceLink, verdictPiece } from './format-source.ts';
import type { Terminal } from './terminal.ts';
import { type LinePiece, renderText, wrapPieces } from './wrap-text.ts';

interface FooterOptions {
  inChat?: boolean;
  /** Prints the tokens and times of the offline model, too, and all parts of them. */
  verbose?: boolean;
  /** Prints a blank line before the first one. */
  isSeparate?: boolean;
  /** The markers of passages that were printed in part. */
  shortened?: readonly string[];
  priceOf?: CalculatePrice | undefined;
}

const MAX_TITLE = 70;
const MAX_SENTENCE = 300;
/** Pieces of evidence shown per source, and their characters: about four sentences. */
const MAX_EVIDENCE = 3;
const MAX_EVIDENCE_LENGTH = 600;

/** Prints the sources of an answer, its flagged sentences, and one line about the check and the cost. */
export function renderAnswerFooter(
  terminal: Terminal,
  turn: ConversationTurn,
  { inChat = false, verbose = false, isSeparate = false, shortened = [], priceOf }: FooterOptions = {},
): void {
  const { response } = turn;
  const isCited = response.citations.some(({ chunkId }) => chunkId !== null);
  const { sentence, isWarning } = describeAnswerStatus(response);
  const key = inChat && isCited && sentence !== '' && !isWarning ? 'Tab shows it' : '';
  const hint =
    shortened.length === 0 ? '' : `Shortened; ${inChat ? '/source <n>' : 'citeloop open <n>'} shows it all`;
  const usage =
    verbose || response.model !== OFFLINE_MODEL ? formatUsage(response, { verbose, priceOf }) : [];
  const parts = [sentence.replace(/\.$/, ''), key, hint, ...usage].filter((part) => part !== '');
  if (isSeparate && (isCited || parts.length > 0)) terminal.write('\n');
  renderSources(terminal, turn);
  renderFlaggedSentences(terminal, response);
  renderText(terminal, parts.join(' · '), { style: isWarning ? 'yellow' : 'dim' });
}

/** Prints the sources of an answer and returns their number; `below` prints what belongs to a source. */
function renderSources(
  terminal: Terminal,
  { response, retrievals }: ConversationTurn,
  below?: (citation: Citation) => void,
): number {
  const chunks = new Map(
    retrievals.flatMap((retrieval) => retrieval.chunks.map((chunk) => [chunk.chunkId, chunk])),
  );
  const known = response.citations.filter(({ chunkId }) => chunkId !== null);
  for (const citation of known) {
    const marker = {
      text: formatMarker(citation.marker),
      paint: (text: string) => terminal.text(text, 'bold'),
    };
    const pieces = sourcePieces(terminal, citation, chunks.get(citation.chunkId ?? ''));
    terminal.write(`${wrapPieces(terminal, [marker, ...pieces])}\n`);
    below?.(citation);
  }
  return known.length;
}

/** Prints each source of an answer with the parts of it that are evidence. */
export function renderEvidence(terminal: Terminal, turn: ConversationTurn): void {
  const count = renderSources(terminal, turn, ({ marker, chunkId }) => {
    const evidence = listEvidence(turn.response.sentences, chunkId);
    for (const text of evidence.slice(0, MAX_EVIDENCE))
      renderText(terminal, `"${oneLine(text, MAX_EVIDENCE_LENGTH)}"`, { indent: '    ' });
    const more = evidence.length - MAX_EVIDENCE;
    const note =
      evidence.length === 0 ? 'no evidence found' : more > 0 ? `and ${more} more: /source ${marker}` : '';
    if (note !== '') renderText(terminal, note, { style: 'dim', indent: '    ' });
  });
  if (count === 0) terminal.write('The last answer cites nothing.\n');
}

/** Blocks of Markdown: why the answer is not grounded, flagged sentences, and the sources with their evidence. */
export function toMarkdownFooter(response: AgentResponse): string[] {
  const sources = response.citations
    .filter(({ chunkId }) => chunkId !== null)
    .map((citation) => {
      const { marker, chunkId, verdict, gone } = citation;
      const notes = [...(isPassedCitation(citation) ? [] : [verdict]), ...(gone ? ['file deleted'] : [])];
      const evidence = listEvidence(response.sentences, chunkId);
      const line = [`- [${marker}] ${formatCitation(citation)}`, ...notes].join(', ');
      return [line, ...evidence.map((text) => `  > ${oneLine(text, MAX_SENTENCE)}`)].join('\n');
    });
  const { sentence } = describeAnswerStatus(response);
  const status = response.grounded || sentence === '' ? [] : [`*${sentence}*`];
  const flagged = findFlagged(response.sentences).map(
    (sentence) => `- ⚠ "${oneLine(sentence.text, MAX_SENTENCE)}": ${describeFlag(sentence)}`,
  );
  return [
    ...status,
    ...[flagged, sources].filter((lines) => lines.length > 0).map((lines) => lines.join('\n')),
  ];
}

/** `Title › Heading, lines 3–9  path` */
function sourcePieces(
  terminal: Terminal,
  { title, url, location, verdict }: Citation,
  chunk: RetrievedChunk | undefined,
): LinePiece[] {
  const name = title === '' ? url : title;
  const place = [name, ...(chunk?.headings ?? []).filter((heading) => heading !== name)].join(' › ');
  const target = toSourceLink(chunk ?? { url, location });
  return [
    { text: oneLine(place, MAX_TITLE), paint: (text) => terminal.link(target, text, 'cyan') },
    ...(location ? [{ text: formatLocation(location), gap: ', ' }] : []),
    // A source that passed the check needs no comment.
    ...(isPassedCitation({ verdict }) ? [] : [verdictPiece(terminal, verdict)]),
    { text: formatUrl(url), gap: '  ', paint: (text) => terminal.text(text, 'dim') },
    ...(chunk !== undefined && isFileDeleted(chunk) ? [missingFilePiece(terminal)] : []),
  ];
}

/** Each flagged sentence with the reason below it. */
function renderFlaggedSentences(terminal: Terminal, { sentences }: AgentResponse): void {
  for (const sentence of findFlagged(sentences)) {
    renderText(terminal, `⚠ "${oneLine(sentence.text, MAX_SENTENCE)}"`, { style: 'yellow' });
    renderText(terminal, oneLine(describeFlag(sentence), MAX_SENTENCE), { indent: '    ' });
  }
}

/** The model, its tokens, their price, and the time. */
function formatUsage(
  response: AgentResponse,
  { verbose = false, priceOf = () => null }: Pick<FooterOptions, 'verbose' | 'priceOf'>,
): string[] {
  const { model, tokensUsed, retrievalCount, retrievalTimeMs, generationTimeMs, totalTimeMs } = response;
  const price = priceOf(model, tokensUsed);
  return [
    oneLine(model, 60),
    `${tokensUsed.estimated ? 'about ' : ''}${tokensUsed.total} tokens${verbose ? ` (${tokensUsed.prompt} in, ${tokensUsed.completion} out)` : ''}`,
    ...(price === null ? [] : [`cost ${formatPrice(price)}`]),
    ...(verbose ? [retrievalCount === 0 ? 'no search' : formatCount(retrievalCount, 'retrieval')] : []),
    formatTime(totalTimeMs) +
      (verbose ? ` (search ${formatTime(retrievalTimeMs)}, model ${formatTime(generationTimeMs)})` : ''),
  ];
}

/** With at least two significant digits for small amounts. */
function formatPrice(amount: number): string {
  return amount === 0 ? '0' : amount.toFixed(Math.max(2, Math.min(6, 2 - Math.floor(Math.log10(amount)))));
}

function formatTime(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
