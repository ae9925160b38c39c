import { formatForPrompt, type RefOf, type ShownContext } from './retrieval-context.ts';

/*
 * What the agent tells a model in words that the offline model reads back: it is given no more than any other model,
 * so both sides keep to these texts.
 */

/** The address of what a person gives along with a question. */
export const ATTACHED_URL = 'stdin';

const NOTHING = 'No passage of the documents matches this question.';
const QUESTION = '\n\nQuestion: ';

/** A question with the passages retrieved for it in front: source blocks that no document can close or forge. */
export function contextPrompt(shown: ShownContext, question: string, refOf: RefOf): string {
  return `${shown.texts.length === 0 ? NOTHING : formatForPrompt(shown, refOf)}${QUESTION}${question}`;
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

/** The same prompt with at most so many passages, the first ones; any other text as it is. */
export function withFewerPassages(prompt: string, most: number): string {
  const halves = splitContextPrompt(prompt);
  if (halves === null || halves.passages === '') return prompt;
  const passages = halves.passages.split(/\n\n(?=<source )/).slice(0, most);
  return `${passages.join('\n\n')}${QUESTION}${halves.question}`;
}

/** Asks a model for the query behind a follow-up. */
export const REWRITE_INSTRUCTIONS =
  "Rewrite the user's last message as one search query that can be understood without the conversation. " +
  'Reply with the query alone. If it stands on its own already, repeat it unchanged.';

/** How the instructions of an agent say what its collection holds. */
const COVERAGE = /^The documents cover: (.+)\.$/m;

export function coverageLine(subjects: readonly string[]): string {
  return `The documents cover: ${subjects.join(', ')}.`;
}

export function coverageIn(instructions: string): string | null {
  return COVERAGE.exec(instructions)?.[1] ?? null;
}
