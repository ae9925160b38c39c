/** Without zod, so that `--help` can list these without loading schemas. */
export const RETRIEVAL_POLICIES = ['tool', 'always', 'first', 'never'] as const;
export const TOOL_NAMES = ['search_docs', 'retrieve_context'] as const;
/** The search tool of hosted models. */
export const DEFAULT_TOOL_NAME: (typeof TOOL_NAMES)[number] = 'search_docs';
export const MODEL_APIS = ['responses', 'chat_completions'] as const;
export const SEARCH_MODES = ['hybrid', 'dense', 'lexical'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];
export const MODEL_PROVIDERS = ['openai', 'groq', 'openrouter', 'ollama'] as const;
export const STORE_KINDS = ['sqlite', 'qdrant'] as const;
export const QDRANT_QUANTIZATIONS = ['none', 'int8'] as const;
export const EMBEDDER_NAMES = ['minilm', 'openai', 'cohere'] as const;
/** `words` compares word vectors; a collection without them is not reranked. `endpoint` is a service at `rerankBaseUrl`. */
export const RERANKERS = ['words', 'cohere', 'endpoint', 'off'] as const;
/** How citations are checked; `words` needs no extra model call. */
export const CHECKS = ['words', 'model', 'off'] as const;
/** Prefix of a directory with an ONNX model of the user. */
export const ONNX_PREFIX = 'onnx:';

/** The built-in extractive model, which needs no service. */
export const OFFLINE_MODEL = 'offline';

/** The bounds and the default of a numeric setting; integers unless `isFraction`. */
export interface NumberRange {
  min: number;
  max?: number;
  /** Undefined if the default depends on other settings. */
  default?: number;
  isFraction?: boolean;
}

/** The numeric settings of an agent, for its schema and the flags. */
export const NUMBER_SETTINGS = {
  temperature: { min: 0, max: 2, default: 0.1, isFraction: true },
  maxTokens: { min: 1, default: 1024 },
  contextWindow: { min: 2, default: 8192 },
  topK: { min: 1, max: 20, default: 5 },
  scoreThreshold: { min: 0, max: 1, isFraction: true },
  maxTurns: { min: 1, default: 50 },
  maxSteps: { min: 1, default: 8 },
  maxHistory: { min: 1, max: 100, default: 20 },
  maxTurnSeconds: { min: 1, default: 600 },
  maxEventBytes: { min: 1000, default: 8_000_000 },
  maxAnswerCharacters: { min: 100, default: 200_000 },
} as const satisfies Record<string, NumberRange>;
export type NumberSetting = keyof typeof NUMBER_SETTINGS;

/** Kinds of change between a recorded and a reissued response, most severe first. */
export const ANSWER_CHANGE_KINDS = [
  'status',
  'tool-choice',
  'arguments',
  'citations',
  'answer',
  'vectors',
  'ranking',
  'body',
] as const;

/** Defaults with the offline model: it quotes, so it gets whole passages, and finds definitions among more of them. */
export const OFFLINE_DEFAULTS = { toolName: 'retrieve_context', topK: 8 } as const;
