/** Without zod, so that `--help` can list these without loading schemas. */
export const POLICIES = ['tool', 'always', 'first', 'never'] as const;
export const TOOL_NAMES = ['search_docs', 'retrieve_context'] as const;
export const APIS = ['responses', 'chat_completions'] as const;
export const SEARCH_MODES = ['hybrid', 'dense', 'lexical'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];
export const PROVIDERS = ['openai', 'groq', 'openrouter', 'ollama'] as const;
export const STORES = ['sqlite', 'qdrant'] as const;
export const QUANTIZATIONS = ['none', 'int8'] as const;
export const EMBEDDERS = ['minilm', 'openai', 'cohere'] as const;
/** The value of `rerank` for the built-in judge. */
export const JUDGE = 'judge';
/** Prefix of a directory with an ONNX model of the user. */
export const OWN_MODEL = 'onnx:';

/** The built-in extractive model, which needs no service. */
export const OFFLINE_MODEL = 'offline';

/** The bounds and the default of a numeric setting; integers unless `isFraction`. */
export interface NumberRange {
  least: number;
  most?: number;
  /** Undefined if the default depends on other settings. */
  usual?: number;
  isFraction?: boolean;
}

/** The numeric settings of an agent, for its schema and the flags. */
export const NUMBERS = {
  temperature: { least: 0, most: 2, usual: 0.1, isFraction: true },
  maxTokens: { least: 1, usual: 1024 },
  contextWindow: { least: 2, usual: 8192 },
  topK: { least: 1, most: 20, usual: 5 },
  scoreThreshold: { least: 0, most: 1, isFraction: true },
  maxTurns: { least: 1, usual: 50 },
  maxSteps: { least: 1, usual: 8 },
  maxHistory: { least: 1, most: 100, usual: 20 },
  maxTurnSeconds: { least: 1, usual: 600 },
  maxEventBytes: { least: 1000, usual: 8_000_000 },
  maxAnswerCharacters: { least: 100, usual: 200_000 },
} as const satisfies Record<string, NumberRange>;
export type NumberSetting = keyof typeof NUMBERS;

/** What may be different about an answer of a service that is asked again, the gravest first. */
export const ANSWER_CHANGES = [
  'status',
  'tool-choice',
  'arguments',
  'citations',
  'answer',
  'vectors',
  'ranking',
  'body',
] as const;

/** Defaults with the offline model: it quotes, so it gets whole passages, and chooses among more; see `npm run fit:passages`. */
export const OFFLINE_DEFAULTS = { toolName: 'retrieve_context', topK: 8 } as const;
