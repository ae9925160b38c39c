import type { AppConfig } from '../config/load-config.ts';
import { createSecret } from '../config/secret.ts';
import { isLocalModel, systemPromptFor } from '../domain/agent-config.ts';
import { ONNX_PREFIX } from '../domain/setting-choices.ts';
import { createRedactor, type Redactor } from '../faults/redactor.ts';
import type { TapeJson } from '../tape/tape-format.ts';

/** The settings that determine the requests of a run, by flag name; enough to repeat it. */
export function toRunSettings(config: AppConfig): { [name: string]: TapeJson } {
  const { agent, store, qdrant, embedding, rerank, check, modelService, cohereBaseUrl, collectionChosen } =
    config;
  const { verbose: _, stream: __, collection, ...agentSettings } = agent;
  const isHosted = !isLocalModel(agent.model);
  const settings = {
    ...agentSettings,
    systemPrompt: systemPromptFor(agent, agent.policy),
    // Without a configured topK, searches and the offline model use different defaults.
    topK: agent.topK === config.searchTopK ? agent.topK : undefined,
    baseUrl: isHosted ? modelService.baseUrl : undefined,
    collection: collectionChosen ? collection : undefined,
    store,
    qdrantUrl: store === 'qdrant' ? qdrant.url : undefined,
    payloadMap: store === 'qdrant' ? qdrant.payloadMap : undefined,
    embedder: embedding.directory === undefined ? embedding.embedder : `${ONNX_PREFIX}${embedding.directory}`,
    embeddingModel: embedding.model,
    embeddingDimensions: embedding.dimensions,
    embeddingBaseUrl: embedding.embedder === 'openai' ? embedding.service.baseUrl : undefined,
    rerank: rerank.directory === undefined ? rerank.by : `${ONNX_PREFIX}${rerank.directory}`,
    rerankModel: rerank.model,
    rerankBaseUrl: rerank.by === 'endpoint' ? rerank.baseUrl : undefined,
    check: check.directory === undefined ? check.by : `${ONNX_PREFIX}${check.directory}`,
    cohereBaseUrl,
  };
  return JSON.parse(JSON.stringify(settings)) as { [name: string]: TapeJson };
}

/** All configured keys. */
export function configuredSecrets({ secrets }: AppConfig): string[] {
  return secrets.map((secret) => secret.reveal());
}

/** Removes the configured keys, and anything that looks like a key, from output. */
export function createConfiguredRedactor(config: AppConfig): Redactor {
  return createRedactor({ secrets: configuredSecrets(config) });
}

/** The configuration with placeholder keys, for a replay, which sends no request. */
export function withPlaceholderKeys(config: AppConfig): AppConfig {
  const none = createSecret('replayed-no-key');
  const { modelService, modelServiceAt, embedding, rerank, qdrant } = config;
  return {
    ...config,
    modelService: { ...modelService, key: none },
    modelServiceAt: (baseUrl) => ({ ...modelServiceAt(baseUrl), key: none }),
    embedding: { ...embedding, service: { ...embedding.service, key: none } },
    rerank: { ...rerank, key: none },
    qdrant: { ...qdrant, key: none },
    cohereKey: none,
    secrets: [none],
  };
}
