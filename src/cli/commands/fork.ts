import { completeTurn } from '../../agent/complete-turn.ts';
import { forkSession, resolveSessionId } from '../../app/sessions.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { renderFork, whereLedgersPart } from '../terminal/render-fork.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { openAgentFor } from './ask-questions.ts';
import { asSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface ForkFlags extends AgentFlags {
  id?: string | undefined;
  turn?: number | undefined;
}

/** Asks what was asked from a turn on once more, in a session of its own, and says where the two part. */
export function forkOneSession({ id = '', turn, ...flags }: ForkFlags): Promise<void> {
  return withApp({ flags: asSettings(flags) }, async (app, run) => {
    const sessions = await app.sessions();
    const sessionId = await resolveSessionId(sessions, id);
    const at = readFlag('--turn', turn, wholeNumber(1)) ?? (await lastTurn());
    const fork = await forkSession(sessions, { sessionId, turn: at }, app.runtime).finally(sessions.close);
    const { agent, close } = await openAgentFor(app, { session: fork.sessionId }, run);
    const terminal = createTerminal(process.stdout);
    const parted = [];
    const shortId = fork.sessionId.slice(0, 8);
    try {
      const session = await agent.resumeSession(fork.sessionId);
      const policy = flags.policy === undefined ? {} : { policy: app.config.agent.policy };
      if (!flags.json) terminal.write(`Forked to ${shortId}.\n`);
      for (const before of fork.left) {
        const after = await completeTurn(session.ask(before.userQuery, { ...policy, signal: run.signal }));
        parted.push({ turn: before.response.turnNumber, parts: whereLedgersPart(before, after) });
        if (!flags.json) renderFork(terminal, before, after);
      }
      const see = `The new ${fork.left.length === 1 ? 'answer' : 'answers'}: citeloop sessions show ${shortId}`;
      if (!flags.json) renderText(terminal, see, { style: 'dim' });
    } finally {
      await close();
    }
    if (flags.json) process.stdout.write(`${JSON.stringify({ sessionId: fork.sessionId, turns: parted })}\n`);

    async function lastTurn(): Promise<number> {
      return (await sessions.lastTurn(sessionId))?.turn.response.turnNumber ?? 1;
    }
  });
}
