import type { AgentConfig } from '../../domain/agent-config.ts';
import type { ConversationTurn, Decision } from '../../domain/conversation-turn.ts';
import { formatFilter, isEmptyFilter } from '../../domain/query.ts';
import type { RetrievalContext } from '../../domain/retrieval-context.ts';
import { splitWindow } from '../../domain/token-budget.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { oneLine } from '../../text/visible-text.ts';
import { time } from './render-answer.ts';
import { createTerminal } from './terminal.ts';

type Settings = Pick<AgentConfig, 'policy' | 'contextWindow' | 'systemPrompt'>;

/** Prints what `--verbose` adds to a turn that went well: its steps, queries, times, and what was spent of the window. */
export function renderDetails(stderr: NodeJS.WriteStream, turn: ConversationTurn, settings: Settings): void {
  const terminal = createTerminal(stderr);
  const retrievals = [...turn.retrievals];
  const lines = [
    ...turn.decisions.map((decision) => stepLine(decision, retrievals)),
    timeLine(turn),
    budgetLine(turn, settings),
  ];
  for (const line of lines) terminal.write(`${terminal.text(line, 'dim')}\n`);
}

/** A retrieval belongs to the first step that asked for its query. */
function stepLine(decision: Decision, retrievals: RetrievalContext[]): string {
  if (!decision.searched) return `step ${decision.step}: the model answered`;
  const index = retrievals.findIndex(({ query }) => query === decision.query);
  const [retrieval] = index < 0 ? [] : retrievals.splice(index, 1);
  const filter = isEmptyFilter(decision.filter)
    ? ''
    : `, only ${oneLine(formatFilter(decision.filter), 100)}`;
  return `step ${decision.step}: searched "${oneLine(decision.query, 200)}"${filter}: ${retrieval ? foundBy(retrieval) : 'failed'}`;
}

/** `5 of 12 passages, best 0.82, threshold 0.35, 34 ms` */
export function foundBy({ chunks, totalFound, scoreThreshold, queryTimeMs }: RetrievalContext): string {
  const best =
    chunks.length === 0 ? '' : `, best ${Math.max(...chunks.map(({ score }) => score)).toFixed(2)}`;
  return `${chunks.length} of ${totalFound} passages${best}, threshold ${scoreThreshold}, ${time(queryTimeMs)}`;
}

function timeLine({ response }: ConversationTurn): string {
  const { totalTimeMs, retrievalTimeMs, generationTimeMs } = response;
  return `time: ${time(totalTimeMs)}, of which ${time(retrievalTimeMs)} for searches and ${time(generationTimeMs)} for the model`;
}

function budgetLine({ retrievals, response }: ConversationTurn, settings: Settings): string {
  const share = splitWindow(settings.contextWindow);
  const passages = retrievals.reduce((sum, { totalTokens }) => sum + totalTokens, 0);
  const exchange = estimateTokens(response.query) + estimateTokens(response.answer);
  const parts = [
    `system ${estimateTokens(settings.systemPrompt)} of ${share.system}`,
    `passages ${passages} of ${share.retrieved}`,
    `history at most ${share.history}`,
    `question and answer ${exchange} of ${share.exchange}`,
  ];
  return `budget of ${settings.contextWindow} tokens: ${parts.join(', ')}`;
}
