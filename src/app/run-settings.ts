import type { Config } from '../config/load-config.ts';
import { createSecret } from '../config/secret.ts';
import { runsHere } from '../domain/agent-config.ts';
import { JUDGE, OWN_MODEL } from '../domain/choices.ts';
import { createRedactor, type Redactor } from '../faults/redactor.ts';
import type { TapeJson } from '../tape/tape-format.ts';

/** The settings that determine the requests of a run, by flag name; enough to repeat it. */
export function runSettings(config: Config): { [name: string]: TapeJson } {
  const { agent, store, qdrant, embedding, rerank, modelService, cohereBaseUrl, collectionChosen } = config;
  const { verbose: _, stream: __, collection, ...agentSettings } = agent;
  const isHosted = !runsHere(agent.model);
  const settings = {
    ...agentSettings,
    // Without a configured topK, searches and the offline model use different defaults.
    topK: agent.topK === config.searchTopK ? agent.topK : undefined,
    baseUrl: isHosted ? modelService.baseUrl : undefined,
    collection: collectionChosen ? collection : undefined,
    store,
    qdrantUrl: store === 'qdrant' ? qdrant.url : undefined,
    payloadMap: store === 'qdrant' ? qdrant.payloadMap : undefined,
    embedder: embedding.directory === undefined ? embedding.embedder : `${OWN_MODEL}${embedding.directory}`,
    embeddingModel: embedding.model,
    embeddingDimensions: embedding.dimensions,
    embeddingBaseUrl: embedding.embedder === 'openai' ? embedding.service.baseUrl : undefined,
    rerank: rerank.judge
      ? JUDGE
      : rerank.directory === undefined
        ? rerank.on
        : `${OWN_MODEL}${rerank.directory}`,
    rerankModel: rerank.model,
    cohereBaseUrl,
  };
  return JSON.parse(JSON.stringify(settings)) as { [name: string]: TapeJson };
}

/** All configured keys. */
export function configuredSecrets({ secrets, modelService, embedding }: Config): string[] {
  const all = [...Object.values(secrets), modelService.key, embedding.service.key];
  return [...new Set(all.flatMap((secret) => (secret === undefined ? [] : [secret.reveal()])))];
}

/** Removes the configured keys, and anything that looks like a key, from output. */
export function configuredRedactor(config: Config): Redactor {
  return createRedactor({ secrets: configuredSecrets(config) });
}

/** The configuration with placeholder keys, for a replay, which sends no request. */
export function withoutKeys(config: Config): Config {
  const none = createSecret('replayed-no-key');
  const { modelService, embedding } = config;
  return {
    ...config,
    modelService: { ...modelService, key: none },
    embedding: { ...embedding, service: { ...embedding.service, key: none } },
    secrets: Object.fromEntries(Object.keys(config.secrets).map((name) => [name, none])) as Config['secrets'],
  };
}
