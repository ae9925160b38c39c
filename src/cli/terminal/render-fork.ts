import type { ConversationTurn, Decision } from '../../domain/conversation-turn.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';
import { renderText } from './wrapping.ts';

/** How a second answer to the same question differs: the first step that does, and the citations. Null if neither. */
export function diffTurns(before: ConversationTurn, after: ConversationTurn): string[] | null {
  const steps = Array.from(
    { length: Math.max(before.decisions.length, after.decisions.length) },
    (_, index) => [describeStep(before.decisions[index]), describeStep(after.decisions[index])] as const,
  );
  const differs = steps.findIndex(([one, other]) => one.key !== other.key);
  const [one, other] = steps[differs] ?? [];
  const lost = citedOnlyIn(before, after);
  const gained = citedOnlyIn(after, before);
  const isGrounded = after.response.grounded;
  const differences = [
    ...(one && other ? [`step ${differs + 1}: ${one.text}; now ${changeOf(one, other)}`] : []),
    ...(lost.length > 0 ? [`no longer cited: ${lost.join(', ')}`] : []),
    ...(gained.length > 0 ? [`newly cited: ${gained.join(', ')}`] : []),
    ...(before.response.grounded === isGrounded ? [] : [isGrounded ? 'now grounded' : 'no longer grounded']),
  ];
  return differences.length === 0 ? null : differences;
}

export function renderFork(terminal: Terminal, before: ConversationTurn, after: ConversationTurn): void {
  const differences = diffTurns(before, after);
  const { turnNumber, answer } = before.response;
  if (differences === null) {
    const wording = answer === after.response.answer ? 'The answer is the same.' : 'The wording differs.';
    renderText(terminal, `Turn ${turnNumber}: same steps and citations. ${wording}`);
    return;
  }
  renderText(terminal, `Turn ${turnNumber} differs:`);
  for (const difference of differences) renderText(terminal, `- ${difference}`);
}

interface StepDescription {
  text: string;
  /** Equal for steps that did the same and got the same passages. */
  key: string;
  query: string | null;
}

function describeStep(decision: Decision | undefined): StepDescription {
  if (decision === undefined) return { text: 'no step', key: '', query: null };
  if (!decision.searched) return { text: 'answered without a search', key: 'answered', query: null };
  const { query, chunks } = decision;
  const ids = chunks.map(({ chunkId, contentHash }) => `${chunkId} ${contentHash}`);
  return {
    text: `searched "${oneLine(query, 80)}" (${counted(chunks.length, 'passage')})`,
    key: [query, ...ids].join('\n'),
    query,
  };
}

function changeOf(one: StepDescription, other: StepDescription): string {
  return one.query !== null && one.query === other.query ? 'other passages for the same query' : other.text;
}

/** The titles of the sources that only the first turn cites. */
function citedOnlyIn({ response }: ConversationTurn, other: ConversationTurn): string[] {
  const known = new Set(other.response.citations.map(({ chunkId }) => chunkId));
  const titles = response.citations
    .filter(({ chunkId }) => chunkId !== null && !known.has(chunkId))
    .map(({ title }) => oneLine(title, 60));
  return [...new Set(titles)];
}
