import type { AgentResponse } from '../../domain/agent-response.ts';
import { type Citation, citationPassed } from '../../domain/citation.ts';
import type { ConversationTurn, Decision } from '../../domain/conversation-turn.ts';
import { formatFilter, isEmptyFilter } from '../../domain/query.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { describeLocation } from '../../domain/show-location.ts';
import { oneLine } from '../../text/visible-text.ts';
import { renderSentences, verdictPiece } from './render-sentences.ts';
import type { Terminal } from './terminal.ts';
import { flowLine, type Piece, renderText } from './wrapping.ts';

const INDENT = '        ';

type Search = Extract<Decision, { searched: true }>;

/** Prints why a turn went as it did: each step, what it searched for, what came back, and what became of it. */
export function renderLedger(terminal: Terminal, turn: ConversationTurn): void {
  const { decisions, response } = turn;
  renderText(terminal, `Why: ${oneLine(turn.userQuery, 200)}`, { style: 'bold' });
  for (const decision of decisions) {
    if (decision.searched) renderSearch(terminal, decision, turn);
    else terminal.write(`${terminal.text(`Step ${decision.step}`, 'bold')}  answered, no search\n`);
  }
  const unknown = response.citations.filter(({ verdict }) => verdict === 'unknown_source');
  for (const { marker } of unknown) {
    const sentence = `[${oneLine(marker, 20)}] was taken out of the answer: nothing that was retrieved has this name.`;
    renderText(terminal, sentence);
  }
  renderSentences(terminal, response);
  renderText(terminal, conclusionOf(response));
}

function conclusionOf({
  grounded,
  citations,
  confidence,
  answerProbability,
  checkedBy,
}: AgentResponse): string {
  const passed = citations.filter(citationPassed).length;
  const cited =
    citations.length === 0 ? 'nothing was cited' : `${passed} of ${citations.length} citations supported`;
  const chance =
    answerProbability === null
      ? ''
      : ` (${Math.round(answerProbability * 100)} % likely to answer the question)`;
  const how = checkedBy === 'words' ? ' Checked by words alone, without the local model.' : '';
  return `${grounded ? 'Grounded' : 'Not grounded'}: ${cited}, confidence ${confidence}${chance}.${how}`;
}

function renderSearch(terminal: Terminal, search: Search, turn: ConversationTurn): void {
  const dim = (text: string) => terminal.text(text, 'dim');
  const filter = isEmptyFilter(search.filter) ? '' : `only ${oneLine(formatFilter(search.filter), 100)}`;
  const line = flowLine(
    terminal,
    [
      { text: `Step ${search.step}`, paint: (text) => terminal.text(text, 'bold') },
      { text: 'searched:', gap: '  ' },
      { text: oneLine(search.query, 200), paint: (text) => terminal.text(text, 'cyan') },
      ...(filter === '' ? [] : [{ text: filter, gap: '  ', paint: dim }]),
    ],
    INDENT,
  );
  terminal.write(`${line}\n`);
  const retrieval = retrievalOf(search, turn.retrievals);
  for (const note of retrieval?.notes ?? []) {
    renderText(terminal, oneLine(note, 500), { style: 'yellow', indent: INDENT });
  }
  if (search.chunks.length === 0) {
    renderText(terminal, emptyBecause(retrieval), { indent: INDENT });
    return;
  }
  const known = new Map(
    turn.retrievals.flatMap(({ chunks }) => chunks.map((chunk) => [chunk.chunkId, chunk])),
  );
  const cited = new Map(turn.response.citations.map((citation) => [citation.chunkId, citation]));
  const citedScores = turn.response.citations
    .filter(({ chunkId }) => chunkId !== null)
    .map(({ score }) => score);
  const leastCited = citedScores.length > 0 ? Math.min(...citedScores) : null;
  for (const { chunkId } of search.chunks) {
    const chunk = known.get(chunkId);
    const fate = fateOf(terminal, { chunk, citation: cited.get(chunkId), leastCited });
    const passage =
      chunk === undefined ? oneLine(chunkId, 40) : `${placeOf(chunk)}  ${chunk.score.toFixed(2)}`;
    terminal.write(`${flowLine(terminal, [{ text: `${INDENT}${passage}` }, ...fate], `${INDENT}  `)}\n`);
  }
}

/** What became of a passage, and why it was not cited if it was not. */
function fateOf(
  terminal: Terminal,
  {
    chunk,
    citation,
    leastCited,
  }: { chunk: RetrievedChunk | undefined; citation: Citation | undefined; leastCited: number | null },
): Piece[] {
  if (citation !== undefined) {
    const why = citation.verdict === 'unsupported' ? ': it does not say what the answer says' : '';
    return [
      { text: `cited as [${oneLine(citation.marker, 20)}],`, gap: '  ' },
      verdictPiece(terminal, citation.verdict),
      ...(why === '' ? [] : [{ text: why, gap: '' }]),
    ];
  }
  const isBelow = chunk !== undefined && leastCited !== null && chunk.score < leastCited;
  const reason = isBelow ? 'scored below all that is cited' : 'not used';
  return [{ text: `not cited: ${reason}`, gap: '  ', paint: (text) => terminal.text(text, 'dim') }];
}

/** The document, the headings above a passage, and where in the document it stands. */
export function placeOf({
  title,
  headings,
  location,
}: Pick<RetrievedChunk, 'title' | 'headings' | 'location'>): string {
  // Headings often begin with the title of the document.
  const below = headings[0] === title ? headings.slice(1) : headings;
  const path = [title, ...below].map((part) => oneLine(part, 60)).join(' › ');
  return location === undefined ? path : `${path}, ${describeLocation(location)}`;
}

/** The retrieval behind a step: with the same query and, where several have it, the same chunks. */
function retrievalOf(search: Search, retrievals: readonly RetrievalContext[]): RetrievalContext | undefined {
  const ids = search.chunks.map(({ chunkId }) => chunkId).join();
  const same = retrievals.filter(({ query }) => query === search.query);
  return same.find(({ chunks }) => chunks.map(({ chunkId }) => chunkId).join() === ids) ?? same[0];
}

export function emptyBecause(retrieval: RetrievalContext | undefined): string {
  if (retrieval !== undefined && retrieval.excludedByFilter > 0) {
    return `nothing passed the filter, which left out ${retrieval.excludedByFilter} relevant passages`;
  }
  if (retrieval !== undefined && retrieval.nearMiss !== null) {
    const { title, score } = retrieval.nearMiss;
    return `nothing came back: the nearest, "${oneLine(title, 60)}", has ${score.toFixed(2)}, below the threshold of ${retrieval.scoreThreshold}`;
  }
  return 'nothing came back';
}
