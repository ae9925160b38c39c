import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../../faults/app-error.ts';

/** A run of characters without a space is counted in pieces of this length: cutting a long one takes far too long. */
const LONG_RUN = /\S{100}/g;

/** The tokens of a model that someone brought, by the file that describes its tokenizer. */
export interface ForeignTokens {
  count(text: string): number;
  /** With the tokens that the model expects around a text; what is too long for it is cut off. */
  input(text: string, maxTokens: number): number[];
  /** Two texts as one input, and which of them each token is of; the second is cut off where both are too long. */
  pair(first: string, second: string, maxTokens: number): { tokens: number[]; types: number[] };
}

interface Encodes {
  encode(
    text: string,
    options?: { add_special_tokens?: boolean; text_pair?: string | null; return_token_type_ids?: boolean },
  ): { ids: number[]; token_type_ids?: number[] };
}

/** Throws `configuration_error` for a tokenizer that cannot be used. */
export async function readForeignTokens(directory: string): Promise<ForeignTokens> {
  const tokenizer = await open(directory);
  const plain = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids;
  const around = (text: string) => tokenizer.encode(text).ids.length - plain(text).length;
  const added = around('a');
  const addedToPair = tokenizer.encode('a', { text_pair: 'a' }).ids.length - 2 * plain('a').length;

  /** Cut by characters until the tokens fit: what stands around them is put there by the tokenizer alone. */
  function fitting(text: string, most: number): string {
    let fits = text;
    for (let tokens = plain(fits).length; tokens > most; tokens = plain(fits).length) {
      fits = fits.slice(0, Math.min(fits.length - 1, Math.floor((fits.length * most) / tokens)));
    }
    return fits;
  }

  return {
    count: (text) => plain(text.replace(LONG_RUN, '$& ')).length,
    input: (text, maxTokens) => tokenizer.encode(fitting(text, maxTokens - added)).ids,
    pair(first, second, maxTokens) {
      // The question may take half of it at most.
      const question = fitting(first, Math.floor((maxTokens - addedToPair) / 2));
      const room = maxTokens - addedToPair - plain(question).length;
      const { ids, token_type_ids: types } = tokenizer.encode(question, {
        text_pair: fitting(second, room),
        return_token_type_ids: true,
      });
      return { tokens: ids, types: types ?? [] };
    },
  };
}

async function open(directory: string): Promise<Encodes> {
  const path = join(directory, 'tokenizer.json');
  try {
    const description = JSON.parse(await readFile(path, 'utf8')) as object;
    const config = await readFile(join(directory, 'tokenizer_config.json'), 'utf8').catch(() => '{}');
    const { Tokenizer } = await import('@huggingface/tokenizers');
    const tokenizer: Encodes = new Tokenizer(description, JSON.parse(config) as object);
    // One that is broken may show only when it is used.
    if (tokenizer.encode('a').ids.every(Number.isInteger) && tokenizer.encode('a').ids.length > 0)
      return tokenizer;
    throw new Error('it gives no tokens');
  } catch (error) {
    throw new AppError('configuration_error', `${path} cannot be used: ${messageOf(error)}.`, {
      hint: 'It must be the tokenizer.json of a fast tokenizer, as the model comes with it.',
      cause: error,
    });
  }
}
