import { join } from 'node:path';
import type { AgentFlags } from './chat/agent-flags.ts';
import { filterOf, settingsOf } from './chat/agent-settings.ts';
import { createChatHistory } from './chat/chat-history.ts';
import { runChatLoop } from './chat/chat-loop.ts';
import { chooseSession } from './chat/choose-session.ts';
import { createConversation } from './chat/conversation.ts';
import { reportFailure } from './report-failure.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import { withApp } from './with-app.ts';

export function runChat(flags: AgentFlags): Promise<void> {
  const filter = filterOf(flags);
  return withApp(
    settingsOf(flags),
    async (app, signal, tape) => {
      // The embedder is loaded in a thread of its own meanwhile.
      if (flags.mode !== 'lexical') app.embedder().catch(() => {});
      const { openAgent } = await import('./open-agent.ts');
      const open = (model?: string) =>
        openAgent(app, signal, {
          mode: flags.mode,
          tools: flags.tools,
          session: flags.session,
          filter,
          model,
          tape,
        });
      const opened = await open();
      const history = tape?.replaying ? null : createChatHistory(join(app.config.home, 'chat-history'));
      const session = await chooseSession(opened, flags).catch(async (error) => {
        await opened.close();
        throw error;
      });
      const { stream } = app.config.agent;
      // A session that goes on keeps its own policy unless another was asked for.
      const policy = flags.policy === undefined ? session.snapshot().policy : app.config.agent.policy;
      const conversation = createConversation({
        opened,
        session,
        policy,
        user: flags.user,
        openWithModel: open,
      });
      try {
        await runChatLoop({
          conversation,
          streams: process,
          collection: opened.collection,
          filter,
          stream,
          json: flags.json ?? false,
          signal,
          history: {
            history: (await history?.load()) ?? [],
            onMessage: (message) => void history?.add(message),
          },
          report: (error) => void reportFailure(error, { json: false, verbose: flags.verbose ?? false }),
        });
      } finally {
        await conversation.close();
      }
    },
    undefined,
    { command: 'chat', inputs: { flags: recordedFlags(flags) } },
  );
}
