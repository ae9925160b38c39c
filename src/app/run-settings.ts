import type { Config } from '../config/load-config.ts';
import { createSecret } from '../config/secret.ts';
import { runsHere } from '../domain/agent-config.ts';
import { JUDGE, OWN_MODEL } from '../domain/choices.ts';
import { createRedactor, type Redactor } from '../faults/redactor.ts';
import type { TapeJson } from '../tape/tape-format.ts';

/** The settings that decide what a run asks for, by the names that flags have: enough to make the same run again. */
export function runSettings(config: Config): { [name: string]: TapeJson } {
  const { agent, store, qdrant, embedding, rerank, modelService, cohereBaseUrl, collectionChosen } = config;
  const { verbose: _, stream: __, collection, ...agentSettings } = agent;
  const isHosted = !runsHere(agent.model);
  const settings = {
    ...agentSettings,
    // Where nobody said how many passages, a search and a model that reads on this machine each have their own number.
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

/** Every key that is configured, whichever service it is for. */
export function configuredSecrets({ secrets, modelService, embedding }: Config): string[] {
  const all = [...Object.values(secrets), modelService.key, embedding.service.key];
  return [...new Set(all.flatMap((secret) => (secret === undefined ? [] : [secret.reveal()])))];
}

/** Removes them, and whatever has the form of a key, from what is written for others to read. */
export function configuredRedactor(config: Config): Redactor {
  return createRedactor({ secrets: configuredSecrets(config) });
}

/** The same with keys that are none: under replay nobody is asked, and no key is needed. */
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
