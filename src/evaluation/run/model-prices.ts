import * as z from 'zod';
import type { TokensUsed } from '../../domain/agent-response.ts';
import { parseOrThrow } from '../../faults/parse-or-throw.ts';

const PRICED_TOKENS = 1_000_000;
const price = z.number().min(0);

/** Prices per million tokens: `{"currency": "USD", "models": {"gpt-x": {"input": 1.25, "output": 10}}}`. */
const priceFileSchema = z.strictObject({
  currency: z.string().trim().min(1).default('USD'),
  models: z.record(z.string(), z.strictObject({ input: price, output: price })),
});
export type PriceList = z.infer<typeof priceFileSchema>;

/** The price of a turn; null for a model without one. */
export type CalculatePrice = (model: string, tokens: TokensUsed) => number | null;

export const unknownPrice: CalculatePrice = () => null;

/** Throws `invalid_input`. */
export function parsePriceList(value: unknown, file: string): PriceList {
  return parseOrThrow(priceFileSchema, value, `The price file ${file}`);
}

export function createPriceCalculator({ models }: PriceList): CalculatePrice {
  return (model, { prompt, completion }) => {
    const rate = Object.hasOwn(models, model) ? models[model] : undefined;
    return rate === undefined ? null : (prompt * rate.input + completion * rate.output) / PRICED_TOKENS;
  };
}
