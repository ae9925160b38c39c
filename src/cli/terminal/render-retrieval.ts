import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import { formatFilter, isEmptyFilter } from '../../domain/query.ts';
import { type RetrievalContext, searchedFor } from '../../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { RetrievalHit } from '../../retrieval/create-retriever.ts';
import { counted } from '../../text/phrasing.ts';
import { cutAtSentences } from '../../text/split-sentences.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import { oneLine } from '../../text/visible-text.ts';
import { openable, readableUrl } from './render-answer.ts';
import { emptyBecause, placeOf } from './render-ledger.ts';
import type { Terminal } from './terminal.ts';
import { flowLine, renderText, wrap } from './wrapping.ts';

const INDENT = '    ';
const EXCERPT_LINES = 3;
/** On one line nothing is fenced. */
const FENCE = /^[ \t>]*(?:`{3,}|~{3,}).*$/gm;

interface SearchResult {
  collection: string;
  context: RetrievalContext;
  hits: readonly RetrievalHit[];
  explain: boolean;
}

/** Prints hits for a person: where each comes from, what it says, how alike it is. */
export function renderRetrieval(
  terminal: Terminal,
  { collection, context, hits, explain }: SearchResult,
): void {
  for (const note of context.notes) renderText(terminal, oneLine(note, 500), { style: 'yellow' });
  if (hits.length === 0) {
    renderText(terminal, nothingFound(collection, context));
    return;
  }
  hits.forEach((hit, index) => {
    const { chunk, score } = hit;
    const place = placeOf(chunk);
    renderPassage(terminal, { label: `[${index + 1}]`, place, chunk, score, query: searchedFor(context) });
    if (explain) {
      const how = { text: INDENT + explanation(hit), paint: (text: string) => terminal.text(text, 'yellow') };
      terminal.write(`${flowLine(terminal, [how])}\n`);
    }
    terminal.write('\n');
  });
  const more = context.totalFound > hits.length ? ` of ${context.totalFound}` : '';
  const summary = `${hits.length}${more} ${hits.length === 1 && more === '' ? 'passage' : 'passages'} from ${collection} in ${context.queryTimeMs.toFixed(0)} ms`;
  renderText(terminal, summary, { style: 'dim' });
}

function explanation({ lexical, dense, fusedScore, fusedRank, rerankScore }: RetrievalHit): string {
  const words =
    lexical === null ? 'words: no match' : `words: rank ${lexical.rank}, ${lexical.score.toFixed(3)}`;
  const meaning =
    dense === null ? 'meaning: not used' : `meaning: rank ${dense.rank}, ${dense.score.toFixed(3)}`;
  const fused = `fused: rank ${fusedRank}, ${fusedScore.toFixed(3)}`;
  const reranked = rerankScore === null ? [] : [`reranked: ${rerankScore.toFixed(3)}`];
  return [words, meaning, fused, ...reranked].join(' · ');
}

function nothingFound(
  collection: string,
  { nearMiss, scoreThreshold, excludedByFilter }: RetrievalContext,
): string {
  if (excludedByFilter > 0) {
    return `Nothing in ${collection} passes the filter, which left out ${excludedByFilter} relevant passages.`;
  }
  const nearest =
    nearMiss === null
      ? ''
      : ` The nearest is "${oneLine(nearMiss.title, 60)}" with ${nearMiss.score.toFixed(2)}, below the threshold of ${scoreThreshold}.`;
  return `Nothing in ${collection} is about this.${nearest}`;
}

/** Prints what a turn retrieved: where each passage comes from, what it says, and its marker if it was cited. */
export function renderSources(terminal: Terminal, { retrievals, response }: ConversationTurn): void {
  const markers = new Map(response.citations.map(({ chunkId, marker }) => [chunkId, marker]));
  retrievals.forEach((retrieval, index) => {
    if (index > 0) terminal.write('\n');
    const filter = isEmptyFilter(retrieval.filter) ? '' : `, only ${formatFilter(retrieval.filter)}`;
    const found = `${counted(retrieval.chunks.length, 'passage')} for: ${retrieval.query}${filter}`;
    const bold = (text: string) => terminal.text(text, 'bold');
    terminal.write(`${flowLine(terminal, [{ text: oneLine(found, 200), paint: bold }])}\n`);
    if (retrieval.chunks.length === 0) renderText(terminal, emptyBecause(retrieval), { indent: INDENT });
    for (const chunk of retrieval.chunks) {
      const marker = markers.get(chunk.chunkId);
      const label = marker === undefined ? '  -' : `[${oneLine(marker, 20)}]`;
      const { score } = chunk;
      renderPassage(terminal, { label, place: placeOf(chunk), chunk, score, query: retrieval.query });
    }
  });
}

interface Passage {
  label: string;
  place: string;
  chunk: Pick<RetrievedChunk, 'url' | 'uri' | 'location' | 'text'>;
  score: number;
  query: string;
}

/** Where a passage comes from, the part of it that speaks of the query, and its address. */
function renderPassage(terminal: Terminal, { label, place, chunk, score, query }: Passage): void {
  const width = terminal.width - INDENT.length;
  const line = flowLine(terminal, [
    { text: label, paint: (part) => terminal.text(part, 'bold') },
    { text: place, paint: (part) => terminal.link(openable(chunk), part, 'cyan') },
    { text: score.toFixed(2), gap: '  ', paint: (part) => terminal.text(part, 'dim') },
  ]);
  terminal.write(`${line}\n`);
  const excerpt = excerptOf(chunk.text, query, EXCERPT_LINES * width);
  for (const each of wrap(excerpt, width)) terminal.write(`${INDENT}${each}\n`);
  renderText(terminal, readableUrl(chunk.url), { style: 'dim', indent: INDENT });
}

/** The part of a text that speaks most of the query, on one line of about `max` characters, starting at a sentence. */
function excerptOf(text: string, query: string, max: number): string {
  const wanted = new Set(queryTerms(query));
  const sentences = cutAtSentences(text.replace(FENCE, ''));
  const worth = sentences.map(
    (sentence) => new Set(indexTerms(sentence).filter((term) => wanted.has(term))).size,
  );
  let best = 0;
  let bestWorth = -1;
  for (let start = 0; start < sentences.length; start += 1) {
    const sum = worthFrom(start);
    if (sum > bestWorth) {
      best = start;
      bestWorth = sum;
    }
  }
  return oneLine(`${best > 0 ? '… ' : ''}${sentences.slice(best).join('')}`, max);

  /** What would be seen of the query if the excerpt started here. */
  function worthFrom(start: number): number {
    let sum = 0;
    let length = 0;
    for (let i = start; i < sentences.length && length < max; i += 1) {
      sum += worth[i] ?? 0;
      length += sentences[i]?.length ?? 0;
    }
    return sum;
  }
}
