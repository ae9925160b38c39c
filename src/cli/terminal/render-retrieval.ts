import { formatAbsentWords, type RetrievalContext } from '../../domain/retrieval-context.ts';
import type { SearchMode } from '../../domain/setting-choices.ts';
import type { RankedHit } from '../../retrieval/create-retriever.ts';
import { selectPassageWindow } from '../../text/passage-window.ts';
import { oneLine } from '../../text/visible-text.ts';
import { formatSourcePlace, formatUrl, toSourceLink } from './format-source.ts';
import { explainEmptyResult } from './render-ledger.ts';
import type { Terminal } from './terminal.ts';
import { renderText, wrapLine, wrapPieces } from './wrap-text.ts';

const INDENT = '    ';
const EXCERPT_LINES = 3;
const CODE_FENCE = /^[ \t>]*(?:`{3,}|~{3,}).*$/gm;

interface SearchResult {
  collection: string;
  mode: SearchMode;
  context: RetrievalContext;
  hits: readonly RankedHit[];
  explain: boolean;
}

export function renderSearchResult(
  terminal: Terminal,
  { collection, mode, context, hits, explain }: SearchResult,
): void {
  for (const note of context.notes) renderText(terminal, oneLine(note, 500), { style: 'yellow' });
  const absent = formatAbsentWords(context);
  if (absent !== null) renderText(terminal, oneLine(absent, 500), { style: 'yellow' });
  if (hits.length === 0) {
    const hint = context.nearMiss === null ? '' : ' To see it: --threshold 0';
    renderText(terminal, `${explainEmptyResult(context, ` in ${collection}`)}.${hint}`);
    return;
  }
  hits.forEach((hit, index) => {
    renderPassage(terminal, `[${index + 1}]`, hit, context.query);
    if (explain) renderText(terminal, formatRanks(hit, mode), { style: 'yellow', indent: INDENT });
    terminal.write('\n');
  });
  const more = context.totalFound > hits.length ? ` of ${context.totalFound}` : '';
  const noun = hits.length === 1 && more === '' ? 'passage' : 'passages';
  const where = `(${collection}, ${context.queryTimeMs.toFixed(0)} ms)`;
  renderText(terminal, `${hits.length}${more} matching ${noun} ${where}`, { style: 'dim' });
}

function formatRanks(hit: RankedHit, mode: SearchMode): string {
  const { lexical, dense, fusedScore, fusedRank, rerankScore } = hit;
  const rank = (found: typeof lexical, isUsed: boolean) =>
    found === null ? (isUsed ? 'no match' : 'not used') : `rank ${found.rank}, ${found.score.toFixed(3)}`;
  return [
    `words: ${rank(lexical, mode !== 'dense')}`,
    `meaning: ${rank(dense, mode !== 'lexical')}`,
    `fused: rank ${fusedRank}, ${fusedScore.toFixed(3)}`,
    ...(rerankScore === null ? [] : [`reranked: ${rerankScore.toFixed(3)}`]),
  ].join(' · ');
}

function renderPassage(terminal: Terminal, label: string, { chunk, score }: RankedHit, query: string): void {
  const width = terminal.width - INDENT.length;
  const target = toSourceLink(chunk);
  const line = wrapPieces(terminal, [
    { text: label, paint: (part) => terminal.text(part, 'bold') },
    { text: formatSourcePlace(chunk), paint: (part) => terminal.link(target, part, 'cyan') },
    { text: score.toFixed(2), gap: '  ', paint: (part) => terminal.text(part, 'dim') },
  ]);
  terminal.write(`${line}\n`);
  const excerpt = bestExcerpt(chunk.text, query, EXCERPT_LINES * width);
  for (const each of wrapLine(excerpt, width)) terminal.write(`${INDENT}${each}\n`);
  renderText(terminal, formatUrl(chunk.url), { style: 'dim', indent: INDENT });
}

/** One line of at most `max` characters: the part of the text nearest to the query. */
function bestExcerpt(text: string, query: string, max: number): string {
  const part = selectPassageWindow(text, query, max);
  const start = text.startsWith(part) ? '' : '… ';
  return oneLine(start + part.replace(CODE_FENCE, ''), max);
}
