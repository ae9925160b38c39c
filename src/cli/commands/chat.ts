import { join } from 'node:path';
import { listOllamaModels, listServiceModels } from '../../app/create-model.ts';
import { listCollectionNames } from '../../app/open-collection.ts';
import { createConfiguredRedactor } from '../../app/run-settings.ts';
import type { AppConfig } from '../../config/load-config.ts';
import { providerPresets } from '../../config/service-access.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { createPriceCalculator } from '../../evaluation/run/model-prices.ts';
import { createChatHistory } from '../chat/chat-history.ts';
import { runChatLoop } from '../chat/chat-loop.ts';
import { createChatConversation } from '../chat/conversation.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';
import { reportFailure } from '../report-failure.ts';
import { openConversation, openConversationAgent } from './ask.ts';
import { toFilter, toOutputOptions, toSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export function runChat(flags: AgentFlags): Promise<number> {
  const filter = toFilter(flags);
  const output = toOutputOptions(flags);
  return withApp({ flags: toSettings(flags), taped: { command: 'chat', flags } }, async (app, run) => {
    const isInteractive = process.stdin.isTTY === true;
    const isOnTape = run.tape !== null;
    const options = { ...flags, filter, model: undefined, isInteractive };
    const { session, ...open } = await openConversation(app, options, run);
    const history = run.tape?.replaying ? null : createChatHistory(join(app.config.home, 'chat-history'));
    const { stream, verbose } = app.config.agent;
    const conversation = createChatConversation({
      open,
      session,
      // A continued session keeps its policy unless --policy is given.
      policy: flags.policy === undefined ? session.snapshot().policy : app.config.agent.policy,
      user: flags.user,
      isInteractive,
      filter,
      collections: async () => (isOnTape ? [] : listCollectionNames(app)),
      priceOf: createPriceCalculator({ currency: '', models: app.config.prices }),
      models: async () =>
        isOnTape
          ? []
          : [
              ...(await listOllamaModels()),
              ...(await listServiceModels(app.config.modelService)),
              OFFLINE_MODEL,
            ],
      async openWith({ model, collection = open.collection }) {
        const isLocal = model !== undefined && !isOnTape && (await listOllamaModels()).includes(model);
        const config = isLocal ? withOllama(app.config) : app.config;
        const agent = { ...config.agent, collection };
        const changed = app.withConfig({ ...config, collectionChosen: true, agent });
        return openConversationAgent(changed, { ...options, session: undefined, filter: {}, model }, run);
      },
    });
    try {
      return await runChatLoop({
        conversation,
        streams: process,
        stream,
        ...output,
        explain: verbose ? createConfiguredRedactor(app.config) : undefined,
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

/** The settings with the models of this machine. */
function withOllama(config: AppConfig): AppConfig {
  const { api, ...service } = providerPresets.ollama;
  const agent = { ...config.agent, api, baseUrl: service.baseUrl };
  return { ...config, agent, modelService: { ...service, key: undefined } };
}
