export interface KnownModel {
  /** Learnt from a first call where it is not known. */
  dimensions?: number;
  /** How long a chunk may be. */
  maxTokens: number;
  scoreThreshold: number;
  /** Whether shorter vectors can be asked for. */
  shortens?: boolean;
  /** What the model was trained to see before a question, and before a passage. */
  queryPrefix?: string;
  documentPrefix?: string;
}

/** The smallest window of the models in use, and a threshold in the middle of theirs. */
const UNKNOWN: KnownModel = { maxTokens: 256, scoreThreshold: 0.4 };

/**
 * Chunks stay at 512 tokens or below even where a model reads 8,000: one vector should mean one passage.
 *
 * The thresholds are starting values after what others have published, since the scales of cosines differ, and
 * only the one of all-MiniLM was measured here (bench/quality.ts). text-embedding-3 gave on-topic questions 0.44
 * and off-topic ones 0.08 (afurmanov.com/chunk-size-embedding-similarity); ada-002 gave even unrelated words about
 * 0.8 (S. Anand, "Embeddings similarity threshold", 2024); the cards of E5 and of the first BGE place everything
 * between 0.7 and 1, and 0.6 and 1. The others are placed between. AGENT_SCORE_THRESHOLD overrides them.
 */
const MODELS: ReadonlyArray<[RegExp, KnownModel]> = [
  [/^text-embedding-3-small$/, { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.3, shortens: true }],
  [/^text-embedding-3-large$/, { dimensions: 3072, maxTokens: 512, scoreThreshold: 0.3, shortens: true }],
  [/^text-embedding-ada-002$/, { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.78 }],
  [/all-minilm/, { maxTokens: 256, scoreThreshold: 0.35 }],
  [
    /nomic-embed-text/,
    {
      maxTokens: 512,
      scoreThreshold: 0.55,
      queryPrefix: 'search_query: ',
      documentPrefix: 'search_document: ',
    },
  ],
  [
    /mxbai-embed-large/,
    {
      maxTokens: 480,
      scoreThreshold: 0.5,
      queryPrefix: 'Represent this sentence for searching relevant passages: ',
    },
  ],
  [/bge-m3/, { maxTokens: 512, scoreThreshold: 0.45 }],
  [
    /bge-(small|base|large)-en/,
    {
      maxTokens: 480,
      scoreThreshold: 0.55,
      queryPrefix: 'Represent this sentence for searching relevant passages: ',
    },
  ],
  [
    /(^|[/-])e5-(small|base|large)/,
    { maxTokens: 480, scoreThreshold: 0.78, queryPrefix: 'query: ', documentPrefix: 'passage: ' },
  ],
];

/** What is known of a model by its name, with or without an owner before it and a tag behind it. */
export function knownModel(name: string): KnownModel {
  return MODELS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? UNKNOWN;
}
