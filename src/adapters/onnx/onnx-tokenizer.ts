import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../../faults/app-error.ts';

/** Long runs without a space are counted in pieces of this length, because tokenizing them is slow. */
const LONG_RUN = /\S{100}/g;

export interface OnnxTokenizer {
  count(text: string): number;
  /** The input for one text with the model's special tokens, cut to `maxTokens`. */
  encode(text: string, maxTokens: number): number[];
  /** The input for two texts, with the text that each token is from; the second is cut to fit. */
  encodePair(first: string, second: string, maxTokens: number): { tokens: number[]; types: number[] };
}

interface HuggingFaceTokenizer {
  encode(
    text: string,
    options?: { add_special_tokens?: boolean; text_pair?: string | null; return_token_type_ids?: boolean },
  ): { ids: number[]; token_type_ids?: number[] };
}

/** Throws `configuration_error` for a tokenizer that cannot be used. */
export async function readOnnxTokenizer(directory: string): Promise<OnnxTokenizer> {
  const tokenizer = await openTokenizer(directory);
  const tokenize = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids;
  const specialTokens = tokenizer.encode('a').ids.length - tokenize('a').length;
  const pairTokens = tokenizer.encode('a', { text_pair: 'a' }).ids.length - 2 * tokenize('a').length;

  /** Cuts characters until the tokens fit, since only the tokenizer can add the special tokens. */
  function cutToTokens(text: string, maxTokens: number): string {
    let cut = text;
    for (let count = tokenize(cut).length; count > maxTokens; count = tokenize(cut).length) {
      cut = cut.slice(0, Math.min(cut.length - 1, Math.floor((cut.length * maxTokens) / count)));
    }
    return cut;
  }

  return {
    count: (text) => tokenize(text.replace(LONG_RUN, '$& ')).length,
    encode: (text, maxTokens) => tokenizer.encode(cutToTokens(text, maxTokens - specialTokens)).ids,
    encodePair(first, second, maxTokens) {
      const available = maxTokens - pairTokens;
      const question = cutToTokens(first, Math.floor(available / 2));
      const { ids, token_type_ids: types } = tokenizer.encode(question, {
        text_pair: cutToTokens(second, available - tokenize(question).length),
        return_token_type_ids: true,
      });
      return { tokens: ids, types: types ?? [] };
    },
  };
}

async function openTokenizer(directory: string): Promise<HuggingFaceTokenizer> {
  const path = join(directory, 'tokenizer.json');
  try {
    const description = JSON.parse(await readFile(path, 'utf8')) as object;
    const config = await readFile(join(directory, 'tokenizer_config.json'), 'utf8').catch(() => '{}');
    const { Tokenizer } = await import('@huggingface/tokenizers');
    const tokenizer: HuggingFaceTokenizer = new Tokenizer(description, JSON.parse(config) as object);
    // Some broken tokenizers fail only when they are used.
    const { ids } = tokenizer.encode('a');
    if (ids.length > 0 && ids.every(Number.isInteger)) return tokenizer;
    throw new Error('it returns no tokens');
  } catch (error) {
    throw new AppError('configuration_error', `${path} cannot be used: ${messageOf(error)}.`, {
      hint: "It must be the model's tokenizer.json for a fast tokenizer.",
      cause: error,
    });
  }
}
