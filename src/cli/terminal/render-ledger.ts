import type { AgentResponse } from '../../domain/agent-response.ts';
import { describeFlag, toEvidenceText } from '../../domain/answer-status.ts';
import { isPassedCitation } from '../../domain/citation.ts';
import type { ConversationTurn, LedgerEntry } from '../../domain/conversation-turn.ts';
import { formatFilter, isEmptyFilter } from '../../domain/query.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import { oneLine } from '../../text/visible-text.ts';
import { formatMarker, formatSourcePlace, verdictPiece } from './format-source.ts';
import type { Terminal } from './terminal.ts';
import { type LinePiece, renderText, wrapPieces } from './wrap-text.ts';

const INDENT = '        ';
const MAX_SENTENCE = 300;

type SearchDecision = Extract<LedgerEntry, { searched: true }>;

/** Explains a turn: each step with its query, its passages and which were cited, then each checked sentence. */
export function renderLedger(terminal: Terminal, turn: ConversationTurn): void {
  const { decisions, response } = turn;
  renderText(terminal, `Question: ${oneLine(turn.userQuery, 200)}`, { style: 'bold' });
  const answered = decisions.some(({ searched }) => searched) ? 'answered' : 'answered without a search';
  for (const decision of decisions) {
    if (decision.searched) renderSearch(terminal, decision, turn);
    else terminal.write(`${terminal.text(`Step ${decision.step}`, 'bold')}  ${answered}\n`);
  }
  for (const { marker, verdict } of response.citations) {
    if (verdict !== 'unknown_source') continue;
    renderText(terminal, `${formatMarker(marker)} was removed from the answer: it is no retrieved passage.`);
  }
  renderSentences(terminal, response);
  renderText(terminal, summarizeCheck(response));
}

function renderSearch(terminal: Terminal, search: SearchDecision, turn: ConversationTurn): void {
  const filter = isEmptyFilter(search.filter) ? '' : `only ${oneLine(formatFilter(search.filter), 100)}`;
  const pieces: LinePiece[] = [
    { text: `Step ${search.step}`, paint: (text) => terminal.text(text, 'bold') },
    { text: 'searched:', gap: '  ' },
    { text: oneLine(search.query, 200), paint: (text) => terminal.text(text, 'cyan') },
    { text: filter, gap: '  ', paint: (text) => terminal.text(text, 'dim') },
  ];
  const shown = pieces.filter(({ text }) => text !== '');
  terminal.write(`${wrapPieces(terminal, shown, INDENT)}\n`);
  const retrieval = turn.retrievals.find(({ query }) => query === search.query);
  for (const note of retrieval?.notes ?? []) {
    renderText(terminal, oneLine(note, 500), { style: 'yellow', indent: INDENT });
  }
  if (search.chunks.length === 0) renderText(terminal, explainEmptyResult(retrieval), { indent: INDENT });
  const { citations } = turn.response;
  const chunks = new Map(
    turn.retrievals.flatMap((each) => each.chunks.map((chunk) => [chunk.chunkId, chunk])),
  );
  for (const { chunkId } of search.chunks) {
    const chunk = chunks.get(chunkId);
    const place =
      chunk === undefined ? oneLine(chunkId, 40) : `${formatSourcePlace(chunk)}  ${chunk.score.toFixed(2)}`;
    const citation = citations.find((each) => each.chunkId === chunkId);
    const use = citation
      ? [
          { text: `cited as ${formatMarker(citation.marker)},`, gap: '  ' },
          verdictPiece(terminal, citation.verdict),
        ]
      : [{ text: 'not cited', gap: '  ', paint: (part: string) => terminal.text(part, 'dim') }];
    terminal.write(`${wrapPieces(terminal, [{ text: INDENT + place }, ...use], `${INDENT}  `)}\n`);
  }
}

/** `where` names the collection. */
export function explainEmptyResult(retrieval: RetrievalContext | undefined, where = ''): string {
  const { excludedByFilter = 0, nearMiss = null, scoreThreshold } = retrieval ?? {};
  const none = `No results${where}`;
  if (excludedByFilter > 0) return `${none}: the filter excluded ${excludedByFilter} relevant passages`;
  if (nearMiss === null) return none;
  const closest = `"${oneLine(nearMiss.title, 60)}", scored ${nearMiss.score.toFixed(2)}`;
  return `${none}. The closest, ${closest}, below the threshold of ${scoreThreshold}`;
}

/** Each sentence that was checked, with the evidence or the reason for the flag. */
function renderSentences(terminal: Terminal, { sentences }: AgentResponse): void {
  for (const sentence of sentences) {
    const { verdict, evidence, text } = sentence;
    if (verdict === null) continue;
    const pieces: LinePiece[] = [
      verdictPiece(terminal, verdict),
      { text: `"${oneLine(text, MAX_SENTENCE)}"`, gap: '  ' },
    ];
    terminal.write(`${wrapPieces(terminal, pieces, INDENT)}\n`);
    if (verdict === 'unsupported')
      renderText(terminal, `flagged: ${describeFlag(sentence)}`, { indent: INDENT });
    if (evidence !== null && verdict !== 'quoted') {
      const label = verdict === 'unsupported' ? 'closest' : 'evidence';
      renderText(terminal, `${label}: "${oneLine(toEvidenceText(evidence), MAX_SENTENCE)}"`, {
        indent: INDENT,
      });
    }
  }
}

function summarizeCheck({ grounded, outcome, citations, confidence, checkedBy }: AgentResponse): string {
  const passed = citations.filter(isPassedCitation).length;
  const cited =
    citations.length === 0 ? 'no citations' : `${passed} of ${citations.length} citations supported`;
  const method = checkedBy === 'words' ? '' : ` Citation check: ${checkedBy}.`;
  const result = grounded ? 'Grounded' : outcome === 'none' ? 'No information' : 'Not grounded';
  return `${result}: ${cited}, confidence ${confidence}.${method}`;
}
