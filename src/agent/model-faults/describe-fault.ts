import type { ErrorKind } from '../../domain/app-error.ts';

/** A fault in words. `said` tells whether what the service said belongs behind the sentence. */
export interface Description {
  kind: ErrorKind;
  sentence: string;
  said?: boolean;
  hint?: string;
  recoverable?: boolean;
}

/** How the sentences name things. */
export interface Names {
  /** "The model service at api.groq.com". */
  service: string;
  /** `the model "llama"`. */
  model: string;
  keyVariable: string;
}
