import { AppError } from '../../domain/app-error.ts';

export interface CohereModel {
  dimensions: number;
  /** How long a chunk may be. */
  maxTokens: number;
  scoreThreshold: number;
}

export const DEFAULT_COHERE_MODEL = 'embed-v4.0';

/**
 * embed-v4.0 reads 128,000 tokens, but a vector of a whole chapter says little about any sentence of it, and a
 * citation must lead to a passage: chunks are as long as the older models allow.
 *
 * The thresholds are guesses to start from: Cohere publishes none, and none was measured, for want of a key. The
 * value of embed-v4.0 is that of text-embedding-3; those of the v3 models are set higher, of the multilingual ones
 * most, since older models tend to give unrelated texts higher cosines. AGENT_SCORE_THRESHOLD or --threshold
 * overrides them, and `citeloop search --explain` shows the cosines to choose by.
 */
const MODELS: Readonly<Record<string, CohereModel>> = {
  'embed-v4.0': { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.3 },
  'embed-english-v3.0': { dimensions: 1024, maxTokens: 512, scoreThreshold: 0.4 },
  'embed-multilingual-v3.0': { dimensions: 1024, maxTokens: 512, scoreThreshold: 0.45 },
  'embed-english-light-v3.0': { dimensions: 384, maxTokens: 512, scoreThreshold: 0.4 },
  'embed-multilingual-light-v3.0': { dimensions: 384, maxTokens: 512, scoreThreshold: 0.45 },
};

/** Throws `configuration_error` for a model that is not known here. */
export function cohereModel(name: string): CohereModel {
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model !== undefined) return model;
  throw new AppError('configuration_error', `Cohere's embedding model "${name}" is not known here.`, {
    hint: `Use one of ${Object.keys(MODELS).join(', ')}.`,
  });
}
