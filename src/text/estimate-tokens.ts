import { cutText } from './visible-text.ts';

/** Letters of scripts in which a letter is a word or half of one. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** The average number of tokens of a text, by rule of thumb. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4 + (text.match(DENSE)?.length ?? 0) / 2);
}

/** The start of a text with about `maxTokens` tokens by `estimateTokens`. */
export function cutToTokenEstimate(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text);
  return tokens <= maxTokens ? text : cutText(text, Math.floor((text.length * maxTokens) / tokens));
}

/** A run of letters, a run of digits, or any other single character that is not a space. */
const PIECES = /[A-Za-z]+|\d+|[^\sA-Za-z\d]/gu;

/**
 * An upper bound for the number of tokens, without a tokenizer: one per four letters, two digits, other ASCII character
 * or non-ASCII character. On the sample book, WordPiece counts four fifths of it on average and never more. The counts
 * of two texts with a space between add up, which the chunker relies on.
 */
export function maxTokenCount(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += tokensOf(piece);
  return tokens;
}

/** The start of a text with at most `maxTokens` tokens by `maxTokenCount`. */
export function cutToMaxTokenCount(text: string, maxTokens: number): string {
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
