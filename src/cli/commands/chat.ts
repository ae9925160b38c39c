import { join } from 'node:path';
import { collectionNames } from '../../app/open-collection.ts';
import { countStale, forkSession } from '../../app/sessions.ts';
import { pricesBy } from '../../evaluation/run/prices.ts';
import { createChatHistory } from '../chat/chat-history.ts';
import { runChatLoop } from '../chat/chat-loop.ts';
import { createConversation } from '../chat/conversation.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { reportFailure } from '../report-failure.ts';
import { openAgentFor, openConversation } from './ask-questions.ts';
import { asSettings, filterOf, outputOf } from './read-flags.ts';
import { withApp } from './with-app.ts';

/** Older sessions are left to `sessions stale`: a greeting must not keep anybody waiting. */
const LOOKED_AT = 10;

export function runChat(flags: AgentFlags): Promise<void> {
  const filter = filterOf(flags);
  const output = outputOf(flags);
  return withApp({ flags: asSettings(flags), taped: { command: 'chat', flags } }, async (app, run) => {
    // What --model says is in the configuration already.
    const isInteractive = process.stdin.isTTY === true;
    const inputs = { ...flags, filter, model: undefined, isInteractive };
    const { session, ...open } = await openConversation(app, inputs, run);
    const history = run.tape?.replaying ? null : createChatHistory(join(app.config.home, 'chat-history'));
    const { stream, verbose } = app.config.agent;
    // A session that goes on keeps its own policy unless another was asked for.
    const policy = flags.policy === undefined ? session.snapshot().policy : app.config.agent.policy;
    const conversation = createConversation({
      open,
      session,
      policy,
      user: flags.user,
      isInteractive,
      filter,
      // A tape has only what the run asked for.
      collections: async () => (run.tape === null ? collectionNames(app) : []),
      priceOf: pricesBy({ currency: '', models: app.config.prices }),
      forkAt: ({ sessions, ...at }) => forkSession(sessions, at, app.runtime),
      openWith: ({ model, collection = open.collection }) => {
        const agent = { ...app.config.agent, collection };
        const changed = app.withConfig({ ...app.config, collectionChosen: true, agent });
        return openAgentFor(changed, { ...inputs, session: undefined, filter: {}, model }, run);
      },
    });
    try {
      await runChatLoop({
        conversation,
        streams: process,
        // Whoever replays has a conversation of its own.
        staleAnswers: async () =>
          run.tape === null
            ? countStale(app, open.sessions, { limit: LOOKED_AT, collection: open.collection })
            : 0,
        stream,
        ...output,
        details: verbose ? app.config.agent : null,
        signal: run.signal,
        history: {
          history: (await history?.load()) ?? [],
          onMessage: (message) => void history?.add(message),
        },
        report: (error) => void reportFailure(error, { json: false, verbose, inChat: true }),
      });
    } finally {
      await conversation.leave().finally(conversation.close);
    }
  });
}
