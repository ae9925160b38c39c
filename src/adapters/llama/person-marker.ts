import type { ChatWrapper, LoadedModel } from './engine.ts';

const [ANSWER, QUESTION] = ['Alpha', 'Omega'];
/** Stand for tokens that are no text: one that ends a message, and any other. */
const [END, OTHER] = ['\u0001', '\u0000'];

/**
 * What a person's message begins with where a template says so in plain text, as `<|user|>`: a small model that has
 * answered may go on with it, and ask itself the next question. Null where a token of its own begins it.
 */
export function personMarker(model: LoadedModel, wrapper: ChatWrapper): string | null {
  const chatHistory = [
    { type: 'user' as const, text: 'Hello.' },
    { type: 'model' as const, response: [ANSWER] },
    { type: 'user' as const, text: QUESTION },
    { type: 'model' as const, response: [] },
  ];
  const tokens = wrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
  const text = tokens
    .map((token, index) => {
      if (model.isEogToken(token)) return END;
      return model.isSpecialToken(token) ? OTHER : model.detokenize([token], false, tokens.slice(0, index));
    })
    .join('');
  const between = text.slice(text.indexOf(ANSWER) + ANSWER.length, text.indexOf(QUESTION));
  const opening = between.slice(between.lastIndexOf(END) + 1).trim();
  return !between.includes(END) || opening.includes(OTHER) || opening === '' ? null : opening;
}

/** Text as it comes, up to a marker: what may be the beginning of one is held back until it is none. */
export function createTextUntil(marker: string | null) {
  let held = '';

  function give(length: number): string {
    const given = held.slice(0, length);
    held = held.slice(length);
    return given;
  }

  return {
    /** What can be shown by now, and whether the marker has come. */
    push(piece: string): { shown: string; ended: boolean } {
      held += piece;
      const at = marker === null ? -1 : held.indexOf(marker);
      if (at >= 0) return { shown: give(at), ended: true };
      return { shown: give(held.length - beginning(held, marker ?? '')), ended: false };
    },
    /** What was held back, as no more comes. */
    rest: (): string => give(held.length),
  };
}

/** How much at the end of a text may be the beginning of a marker. */
function beginning(text: string, marker: string): number {
  let length = Math.min(marker.length - 1, text.length);
  while (length > 0 && !text.endsWith(marker.slice(0, length))) length -= 1;
  return Math.max(0, length);
}
