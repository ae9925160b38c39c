import { cutText } from './visible-text.ts';

/** Letters of which each is a word or half of one. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** Tokens of a text by rule of thumb, on average: for shares of a context window, and where a model does not say. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4 + (text.match(DENSE)?.length ?? 0) / 2);
}

/** The beginning of a text that has about so many tokens by that rule. */
export function cutToTokenEstimate(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text);
  return tokens <= maxTokens ? text : cutText(text, Math.floor((text.length * maxTokens) / tokens));
}

/** A run of letters, a run of digits, or any other single character that is not a space. */
const PIECES = /[A-Za-z]+|\d+|[^\sA-Za-z\d]/gu;

/**
 * The most tokens that a text may have, told without the tokenizer of a service: one for every four letters or part of them, one
 * for every two digits, one for every mark, and one for every character beyond ASCII. Held against WordPiece on the
 * sample book, passages had four fifths of this on average and never more, so what fits by this count fits the
 * model. Nothing spans a space: the counts of two texts with space between add up, which the chunker relies on.
 */
export function mostTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += tokensOf(piece);
  return tokens;
}

/** The beginning of a text that has at most so many tokens. */
export function cutToTokens(text: string, maxTokens: number): string {
  // No piece has more tokens than characters.
  if (text.length <= maxTokens) return text;
  let tokens = 0;
  for (const match of text.matchAll(PIECES)) {
    const left = maxTokens - tokens;
    tokens += tokensOf(match[0]);
    if (tokens > maxTokens) return text.slice(0, match.index + left);
  }
  return text;
}

function tokensOf(piece: string): number {
  const first = piece.charCodeAt(0);
  if (first >= 128) return piece.length;
  return Math.ceil(piece.length / (first >= 48 && first <= 57 ? 2 : 4));
}
