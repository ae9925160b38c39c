import { formatSourceBlocks, type GetChunkRef, type ShownContext } from './retrieval-context.ts';

/* Prompt texts that the agent writes and the offline model parses, because it gets the same requests as any other model. */

/** The URL of a text that is attached to a question. */
export const ATTACHED_TEXT_URL = 'stdin';

const NOTHING = 'No passage of the documents matches this question.';
const QUESTION = '\n\nQuestion: ';

/** A question after its retrieved passages, in source blocks that no document can close or forge. */
export function formatContextPrompt(shown: ShownContext, question: string, refOf: GetChunkRef): string {
  return `${shown.texts.length === 0 ? NOTHING : formatSourceBlocks(shown, refOf)}${QUESTION}${question}`;
}

/** Splits such a prompt; null for any other text. Passages cannot contain the separator. */
export function parseContextPrompt(prompt: string): { passages: string; question: string } | null {
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

/** Keeps the first passages of such a prompt; any other text is returned unchanged. */
export function keepFirstPassages(prompt: string, most: number): string {
  const halves = parseContextPrompt(prompt);
  if (halves === null || halves.passages === '') return prompt;
  const passages = halves.passages.split(/\n\n(?=<source )/).slice(0, most);
  return `${passages.join('\n\n')}${QUESTION}${halves.question}`;
}

/** Instructions to rewrite a follow-up as a query. */
export const REWRITE_INSTRUCTIONS =
  "Rewrite the user's last message as one search query that can be understood without the conversation. " +
  'Reply with the query alone. If it stands on its own already, repeat it unchanged.';

/** The line of the instructions that says what the collection covers. */
const COVERAGE = /^The documents cover: (.+)\.$/m;

export function formatCoverage(subjects: readonly string[]): string {
  return `The documents cover: ${subjects.join(', ')}.`;
}

export function parseCoverage(instructions: string): string | null {
  return COVERAGE.exec(instructions)?.[1] ?? null;
}
