import { waitForTurn } from '../../agent/wait-for-turn.ts';
import { forkSession, resolveSessionId } from '../../app/sessions.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import type { ConversationTurn, LedgerEntry } from '../../domain/conversation-turn.ts';
import { formatCount } from '../../text/format-count.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import type { FlagValues } from '../flags/common-flags.ts';
import { createTerminal, printJson, type Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import { openConversationAgent } from './ask.ts';
import { toSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface ForkFlags extends AgentFlags, FlagValues<'id', string>, FlagValues<'turn', number> {}

/** Asks the questions of a session again from a turn on, in a new session, and prints the differences. */
export function runFork({ id = '', turn, ...flags }: ForkFlags): Promise<void> {
  return withApp({ flags: toSettings(flags) }, async (app, run) => {
    const sessions = await app.sessions();
    const sessionId = await resolveSessionId(sessions, id);
    const last = await sessions.lastTurn(sessionId);
    const first = parseFlag('--turn', turn, integerSchema(1)) ?? last?.turn.response.turnNumber ?? 1;
    const fork = await forkSession(sessions, { sessionId, turn: first }, app.runtime).finally(sessions.close);
    const { agent, close } = await openConversationAgent(app, { session: fork.sessionId }, run);
    const terminal = createTerminal(process.stdout);
    const turns: { turn: number; parts: string[] | null }[] = [];
    const shortId = fork.sessionId.slice(0, 8);
    try {
      const session = await agent.resumeSession(fork.sessionId);
      const policy = flags.policy === undefined ? {} : { policy: app.config.agent.policy };
      if (!flags.json) terminal.write(`Forked to ${shortId}.\n`);
      for (const before of fork.left) {
        const after = await waitForTurn(session.ask(before.userQuery, { ...policy, signal: run.signal }));
        turns.push({ turn: before.response.turnNumber, parts: diffTurns(before, after) });
        if (!flags.json) renderDifferences(terminal, before, after);
      }
    } finally {
      await close();
    }
    if (flags.json) printJson({ sessionId: fork.sessionId, turns });
    else renderText(terminal, `Show the answers: citeloop sessions show ${shortId}`, { style: 'dim' });
  });
}

/** How a second answer to the same question differs: the first step that does, and the citations. Null if neither. */
export function diffTurns(before: ConversationTurn, after: ConversationTurn): string[] | null {
  const [old, current] = [before.decisions.map(describeStep), after.decisions.map(describeStep)];
  const longer = old.length > current.length ? old : current;
  const at = longer.findIndex((_, index) => old[index]?.key !== current[index]?.key);
  const [was = 'no step', is = 'no step'] = [old[at]?.text, current[at]?.text];
  const lost = citedOnlyIn(before, after);
  const gained = citedOnlyIn(after, before);
  const isGrounded = after.response.grounded;
  const differences = [
    ...(at < 0 ? [] : [`step ${at + 1}: ${was}; now ${is === was ? 'other passages' : is}`]),
    ...(lost.length > 0 ? [`no longer cited: ${lost.join(', ')}`] : []),
    ...(gained.length > 0 ? [`newly cited: ${gained.join(', ')}`] : []),
    ...(before.response.grounded === isGrounded ? [] : [isGrounded ? 'now grounded' : 'no longer grounded']),
  ];
  return differences.length === 0 ? null : differences;
}

/** Steps with the same query and the same passages have the same key. */
function describeStep(decision: LedgerEntry): { text: string; key: string } {
  if (!decision.searched) return { text: 'answered without a search', key: '' };
  const { query, chunks } = decision;
  const ids = chunks.map(({ chunkId, contentHash }) => `${chunkId} ${contentHash}`);
  return {
    text: `searched "${oneLine(query, 80)}" (${formatCount(chunks.length, 'passage')})`,
    key: [query, ...ids].join('\n'),
  };
}

function citedOnlyIn({ response }: ConversationTurn, other: ConversationTurn): string[] {
  const known = new Set(other.response.citations.map(({ chunkId }) => chunkId));
  const titles = response.citations
    .filter(({ chunkId }) => chunkId !== null && !known.has(chunkId))
    .map(({ title }) => oneLine(title, 60));
  return [...new Set(titles)];
}

function renderDifferences(terminal: Terminal, before: ConversationTurn, after: ConversationTurn): void {
  const { turnNumber, answer } = before.response;
  const differences = diffTurns(before, after);
  const wording = answer === after.response.answer ? 'The answer is the same.' : 'The wording differs.';
  if (differences === null) renderText(terminal, `Turn ${turnNumber}: same steps and citations. ${wording}`);
  else renderText(terminal, `Turn ${turnNumber} differs:\n- ${differences.join('\n- ')}`);
}
