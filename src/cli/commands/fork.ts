import { completeTurn } from '../../agent/complete-turn.ts';
import { forkSession, resolveSessionId } from '../../app/sessions.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import type { ConversationTurn, Decision } from '../../domain/conversation-turn.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { createTerminal, printJson, type Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { openConversationAgent } from './ask.ts';
import { asSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface ForkFlags extends AgentFlags {
  id?: string | undefined;
  turn?: number | undefined;
}

/** Asks the questions of a session again from a turn on, in a new session, and prints the differences. */
export function runFork({ id = '', turn, ...flags }: ForkFlags): Promise<void> {
  return withApp({ flags: asSettings(flags) }, async (app, run) => {
    const sessions = await app.sessions();
    const sessionId = await resolveSessionId(sessions, id);
    const last = await sessions.lastTurn(sessionId);
    const first = readFlag('--turn', turn, wholeNumber(1)) ?? last?.turn.response.turnNumber ?? 1;
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
        const after = await completeTurn(session.ask(before.userQuery, { ...policy, signal: run.signal }));
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

function renderDifferences(terminal: Terminal, before: ConversationTurn, after: ConversationTurn): void {
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
