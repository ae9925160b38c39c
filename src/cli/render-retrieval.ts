import type { RetrievalContext } from '../domain/retrieval-context.ts';
import { oneLine } from '../domain/visible-text.ts';
import type { RetrievalHit } from '../retrieval/create-retriever.ts';
import { excerptOf } from './excerpt.ts';
import { flowLine } from './flow-line.ts';
import { readableUrl } from './render-answer.ts';
import type { Terminal } from './terminal.ts';
import { wrap } from './wrap.ts';

const INDENT = '    ';

interface Found {
  collection: string;
  context: RetrievalContext;
  hits: readonly RetrievalHit[];
  explain: boolean;
}

/** Prints hits for a person: where each comes from, what it says, how alike it is. */
export function renderRetrieval(terminal: Terminal, { collection, context, hits, explain }: Found): void {
  for (const note of context.notes) terminal.write(`${terminal.text(oneLine(note, 500), 'yellow')}\n`);
  if (hits.length === 0) {
    terminal.write(`${nothingFound(collection, context)}\n`);
    return;
  }
  hits.forEach((hit, index) => {
    const { chunk, score } = hit;
    const place = [chunk.title, ...chunk.headings].map((part) => oneLine(part, 80)).join(' › ');
    const line = flowLine(terminal, [
      { text: `[${index + 1}]`, paint: (text) => terminal.text(text, 'bold') },
      { text: place, paint: (text) => terminal.link(chunk.url, text, 'cyan') },
      { text: score.toFixed(2), gap: '  ', paint: (text) => terminal.text(text, 'dim') },
    ]);
    terminal.write(`${line}\n`);
    const excerpt = excerptOf(chunk.text, context.query, 3 * (terminal.width - INDENT.length));
    for (const line of wrap(excerpt, terminal.width - INDENT.length)) terminal.write(`${INDENT}${line}\n`);
    terminal.write(`${INDENT}${terminal.text(readableUrl(chunk.url), 'dim')}\n`);
    if (explain) {
      const how = { text: INDENT + explanation(hit), paint: (text: string) => terminal.text(text, 'yellow') };
      terminal.write(`${flowLine(terminal, [how])}\n`);
    }
    terminal.write('\n');
  });
  const more = context.totalFound > hits.length ? ` of ${context.totalFound}` : '';
  const summary = `${hits.length}${more} ${hits.length === 1 && more === '' ? 'passage' : 'passages'} from ${collection} in ${context.queryTimeMs.toFixed(0)} ms`;
  terminal.write(`${terminal.text(summary, 'dim')}\n`);
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
