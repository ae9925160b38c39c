/** Tokens of a text by rule of thumb, for budgets and where a model does not say. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
