/** What can be chosen from, apart from the schemas: `--help` lists it without loading them. */
export const POLICIES = ['tool', 'always', 'first', 'never'] as const;
export const TOOL_NAMES = ['search_docs', 'retrieve_context'] as const;
export const APIS = ['responses', 'chat_completions'] as const;
/** How chunks are found: by words and meaning, by meaning, or by words alone. */
export const SEARCH_MODES = ['hybrid', 'dense', 'lexical'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];
export const PROVIDERS = ['openai', 'groq', 'openrouter', 'ollama'] as const;
export const STORES = ['sqlite', 'qdrant'] as const;
export const QUANTIZATIONS = ['none', 'int8'] as const;
export const EMBEDDERS = ['minilm', 'openai', 'cohere'] as const;
/** Who reranks on this machine without a model of its own. */
export const JUDGE = 'judge';
/** Before the directory of a model that someone brought. */
export const OWN_MODEL = 'onnx:';

/** The model that needs nothing, and only quotes. */
export const OFFLINE_MODEL = 'offline';

/** A number that can be set: its bounds, and what holds unless one is given. */
export interface NumberRange {
  least: number;
  most?: number;
  /** Absent where it depends on something else. */
  usual?: number;
  /** Whether parts of one are allowed. */
  fraction?: boolean;
}

/** The numbers of an agent's settings: the schema that checks them and the flags that give them are made of these. */
export const NUMBERS = {
  temperature: { least: 0, most: 2, usual: 0.1, fraction: true },
  maxTokens: { least: 1, usual: 1024 },
  contextWindow: { least: 2, usual: 8192 },
  topK: { least: 1, most: 20, usual: 5 },
  scoreThreshold: { least: 0, most: 1, fraction: true },
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

/**
 * What holds with the offline model unless another value is given: it quotes, so it reads passages whole; and it tells
 * itself which of some more answers, how many being measured by `npm run fit:passages`.
 */
export const OFFLINE_DEFAULTS = { toolName: 'retrieve_context', topK: 8 } as const;
