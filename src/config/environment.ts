import type { SettingName } from './settings.ts';

/** The environment variables that are read, and what each of them sets. `.env.example` mirrors this list. */
export const settingVariables = {
  OPENAI_BASE_URL: 'baseUrl',
  OPENAI_MODEL: 'model',
  OPENAI_API: 'api',
  CITELOOP_PROVIDER: 'provider',
  CITELOOP_EMBEDDER: 'embedder',
  EMBEDDING_MODEL: 'embeddingModel',
  EMBEDDING_BASE_URL: 'embeddingBaseUrl',
  EMBEDDING_DIMENSIONS: 'embeddingDimensions',
  CITELOOP_RERANK: 'rerank',
  RERANK_MODEL: 'rerankModel',
  COHERE_BASE_URL: 'cohereBaseUrl',
  CITELOOP_STORE: 'store',
  QDRANT_URL: 'qdrantUrl',
  QDRANT_PAYLOAD_MAP: 'payloadMap',
  AGENT_TOP_K: 'topK',
  AGENT_SCORE_THRESHOLD: 'scoreThreshold',
  AGENT_MAX_TURNS: 'maxTurns',
  CITELOOP_HOME: 'home',
  CITELOOP_MODEL_DIR: 'modelDir',
} as const satisfies Record<string, SettingName>;

export const secretVariables = {
  OPENAI_API_KEY: 'openaiApiKey',
  GROQ_API_KEY: 'groqApiKey',
  OPENROUTER_API_KEY: 'openrouterApiKey',
  OLLAMA_API_KEY: 'ollamaApiKey',
  EMBEDDING_API_KEY: 'embeddingApiKey',
  COHERE_API_KEY: 'cohereApiKey',
  QDRANT_API_KEY: 'qdrantApiKey',
} as const;

export type SecretVariable = keyof typeof secretVariables;
export type SecretName = (typeof secretVariables)[SecretVariable];
