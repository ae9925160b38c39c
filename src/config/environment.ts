import type { SettingName } from './settings.ts';

export type SecretName = 'openaiApiKey' | 'cohereApiKey' | 'qdrantApiKey';

/** The environment variables that are read, and what each of them sets. `.env.example` mirrors this list. */
export const settingVariables = {
  OPENAI_BASE_URL: 'baseUrl',
  OPENAI_MODEL: 'model',
  OPENAI_API: 'api',
  QDRANT_URL: 'qdrantUrl',
  AGENT_TOP_K: 'topK',
  AGENT_SCORE_THRESHOLD: 'scoreThreshold',
  AGENT_MAX_TURNS: 'maxTurns',
  CITELOOP_HOME: 'home',
  CITELOOP_MODEL_DIR: 'modelDir',
} as const satisfies Record<string, SettingName>;

export const secretVariables = {
  OPENAI_API_KEY: 'openaiApiKey',
  COHERE_API_KEY: 'cohereApiKey',
  QDRANT_API_KEY: 'qdrantApiKey',
} as const satisfies Record<string, SecretName>;
