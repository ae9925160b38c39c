import { formatForPrompt, type RefOf, type RetrievalContext } from './retrieval-context.ts';

const NOTHING = 'No passage of the documents matches this question.';
const QUESTION = '\n\nQuestion: ';

/** A question with the passages retrieved for it in front: source blocks that no document can close or forge. */
export function contextPrompt(context: RetrievalContext, question: string, refOf: RefOf): string {
  return `${context.chunks.length === 0 ? NOTHING : formatForPrompt(context, refOf)}${QUESTION}${question}`;
}

/** The two halves of such a prompt; null if it is none. A question may hold anything, passages never the mark between. */
export function splitContextPrompt(prompt: string): { passages: string; question: string } | null {
  if (!prompt.startsWith('<source ') && !prompt.startsWith(NOTHING)) return null;
  const end = prompt.startsWith(NOTHING)
    ? NOTHING.length
    : prompt.lastIndexOf(`</source>${QUESTION}`) + '</source>'.length;
  if (!prompt.startsWith(QUESTION, end)) return null;
  return {
    passages: prompt.startsWith(NOTHING) ? '' : prompt.slice(0, end),
    question: prompt.slice(end + QUESTION.length),
  };
}
