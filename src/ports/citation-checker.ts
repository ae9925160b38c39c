import type { TokensUsed } from '../domain/agent-response.ts';
import type { CheckedBy, FlagReason, SentenceEvidence, SentenceVerdict } from '../domain/checked-sentence.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';

/** A sentence of an answer, without its markers, and the chunks that it cites. */
export interface CitedSentence {
  text: string;
  /** What it writes in brackets. */
  refs: readonly string[];
  /** At least one. */
  chunks: readonly RetrievedChunk[];
}

export interface SentenceCheck {
  verdict: SentenceVerdict;
  /** Set if and only if the verdict is `unsupported`. */
  reason: FlagReason | null;
  /** The best match in the cited chunks; null if nothing in them resembles the sentence. */
  evidence: SentenceEvidence | null;
}

export interface CheckContext {
  question: string;
  signal?: AbortSignal | undefined;
  /** Called with the tokens that the check cost. */
  onTokens?: ((tokens: TokensUsed) => void) | undefined;
  /** Called with a sentence for the user if a stronger checker failed. */
  onNotice?: ((message: string) => void) | undefined;
}

export interface CitationChecks {
  /** One per sentence, in the same order. */
  checks: SentenceCheck[];
  /** `words` if a stronger checker failed. */
  checkedBy: CheckedBy;
}

/** Decides whether cited chunks support sentences. Throws AppErrors, or the reason of the signal. */
export interface CitationChecker {
  (sentences: readonly CitedSentence[], context: CheckContext): Promise<CitationChecks>;
  /** Does ahead what takes long, for sentences of an answer that is still written. Never throws. */
  prepare?(sentences: readonly CitedSentence[]): Promise<unknown>;
}
