import { completeTurn } from '../../agent/complete-turn.ts';
import { forkSession, resolveSessionId } from '../../app/sessions.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { diffTurns, renderFork } from '../terminal/render-fork.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { openAgentFor } from './ask.ts';
import { asSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface ForkFlags extends AgentFlags {
  id?: string | undefined;
  turn?: number | undefined;
}

/** Asks the questions of a session again from a turn on, in a new session, and prints the differences. */
export function forkOneSession({ id = '', turn, ...flags }: ForkFlags): Promise<void> {
  return withApp({ flags: asSettings(flags) }, async (app, run) => {
    const sessions = await app.sessions();
    const sessionId = await resolveSessionId(sessions, id);
    const last = await sessions.lastTurn(sessionId);
    const first = readFlag('--turn', turn, wholeNumber(1)) ?? last?.turn.response.turnNumber ?? 1;
    const fork = await forkSession(sessions, { sessionId, turn: first }, app.runtime).finally(sessions.close);
    const { agent, close } = await openAgentFor(app, { session: fork.sessionId }, run);
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
        if (!flags.json) renderFork(terminal, before, after);
      }
    } finally {
      await close();
    }
    if (flags.json) process.stdout.write(`${JSON.stringify({ sessionId: fork.sessionId, turns })}\n`);
    else renderText(terminal, `Show the answers: citeloop sessions show ${shortId}`, { style: 'dim' });
  });
}
