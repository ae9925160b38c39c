import type { ConversationTurn, Decision } from '../../domain/conversation-turn.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';
import { renderText } from './wrapping.ts';

/** Where two ways of answering the same question part: the first step that differs, and what was cited. Null if nowhere. */
export function whereLedgersPart(before: ConversationTurn, after: ConversationTurn): string[] | null {
  const differences: string[] = [];
  const steps = Math.max(before.decisions.length, after.decisions.length);
  for (let index = 0; index < steps; index += 1) {
    const [one, other] = [before.decisions[index], after.decisions[index]];
    if (sameStep(one, other)) continue;
    differences.push(`step ${index + 1}: ${stepsApart(one, other)}`);
    break;
  }
  const [cited, citedNow] = [before, after].map(({ response }) =>
    response.citations.flatMap(({ chunkId, title }) => (chunkId === null ? [] : [{ chunkId, title }])),
  );
  const lost = without(cited ?? [], citedNow ?? []);
  const gained = without(citedNow ?? [], cited ?? []);
  if (lost.length > 0) differences.push(`no longer cited: ${listed(lost)}`);
  if (gained.length > 0) differences.push(`newly cited: ${listed(gained)}`);
  if (before.response.grounded !== after.response.grounded) {
    differences.push(after.response.grounded ? 'now grounded' : 'no longer grounded');
  }
  return differences.length === 0 ? null : differences;
}

export function renderFork(terminal: Terminal, before: ConversationTurn, after: ConversationTurn): void {
  const differences = whereLedgersPart(before, after);
  const number = before.response.turnNumber;
  if (differences === null) {
    const answer = before.response.answer === after.response.answer ? 'the same too' : 'worded otherwise';
    return void renderText(
      terminal,
      `Turn ${number}: the ledgers are the same, step by step; the answer is ${answer}.`,
    );
  }
  renderText(terminal, `Turn ${number} parts from what it was:`);
  for (const difference of differences) renderText(terminal, `- ${difference}`);
}

function sameStep(one: Decision | undefined, other: Decision | undefined): boolean {
  if (one === undefined || other === undefined || one.searched !== other.searched) return false;
  if (!one.searched || !other.searched) return true;
  return one.query === other.query && passagesOf(one).join() === passagesOf(other).join();
}

function passagesOf({ chunks }: Extract<Decision, { searched: true }>): string[] {
  return chunks.map(({ chunkId, contentHash }) => `${chunkId} ${contentHash}`);
}

/** How two steps differ; where they searched for the same, by what came back. */
function stepsApart(one: Decision | undefined, other: Decision | undefined): string {
  if (!one?.searched || !other?.searched || one.query !== other.query) {
    return `${described(one)}, now ${described(other)}`;
  }
  const known = new Set(passagesOf(one));
  const isNew = passagesOf(other).filter((passage) => !known.has(passage)).length;
  if (one.chunks.length !== other.chunks.length || isNew > 0) {
    return `${described(one)}, now ${counted(other.chunks.length, 'passage')}, ${isNew} of them new or changed`;
  }
  return `${described(one)}, now the same in another order`;
}

function described(decision: Decision | undefined): string {
  if (decision === undefined) return 'over';
  if (!decision.searched) return 'answered without a search';
  return `searched "${oneLine(decision.query, 80)}" (${counted(decision.chunks.length, 'passage')})`;
}

function without(
  some: readonly { chunkId: string; title: string }[],
  others: readonly { chunkId: string }[],
): string[] {
  const known = new Set(others.map(({ chunkId }) => chunkId));
  return [...new Set(some.filter(({ chunkId }) => !known.has(chunkId)).map(({ title }) => title))];
}

function listed(titles: readonly string[]): string {
  return titles.map((title) => oneLine(title, 60)).join(', ');
}
