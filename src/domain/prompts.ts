import { formatSourceBlocks, type GetChunkRef, type ShownContext } from './retrieval-context.ts';

/* Prompt texts that the agent writes and the offline model parses, because it gets the same requests as any other model. */

/** The URL of a text that is attached to a question. */
export const ATTACHED_TEXT_URL = 'stdin';

const NO_PASSAGES_TEXT = 'No passage of the documents matches this question.';
const QUESTION_SEPARATOR = '\n\nQuestion: ';

/** A question after its retrieved passages, in source blocks that no document can close or forge. */
export function formatContextPrompt(shown: ShownContext, question: string, refOf: GetChunkRef): string {
  return `${shown.texts.length === 0 ? NO_PASSAGES_TEXT : formatSourceBlocks(shown, refOf)}${QUESTION_SEPARATOR}${question}`;
}

/** Parses a prompt of `formatContextPrompt`; null for other text. Passages cannot contain the separator. */
export function parseContextPrompt(prompt: string): { passages: string; question: string } | null {
  if (!prompt.startsWith('<source ') && !prompt.startsWith(NO_PASSAGES_TEXT)) return null;
  const end = prompt.startsWith(NO_PASSAGES_TEXT)
    ? NO_PASSAGES_TEXT.length
    : prompt.lastIndexOf(`</source>${QUESTION_SEPARATOR}`) + '</source>'.length;
  if (!prompt.startsWith(QUESTION_SEPARATOR, end)) return null;
  return {
    passages: prompt.startsWith(NO_PASSAGES_TEXT) ? '' : prompt.slice(0, end),
    question: prompt.slice(end + QUESTION_SEPARATOR.length),
  };
}

/** Keeps the first `most` passages of a context prompt; other text is returned unchanged. */
export function keepFirstPassages(prompt: string, most: number): string {
  const parsed = parseContextPrompt(prompt);
  if (parsed === null || parsed.passages === '') return prompt;
  const passages = parsed.passages.split(/\n\n(?=<source )/).slice(0, most);
  return `${passages.join('\n\n')}${QUESTION_SEPARATOR}${parsed.question}`;
}

/** Instructions to write a search query for a question. */
export const REWRITE_INSTRUCTIONS =
  "Write one search query that finds the passages which answer the user's last message. Use the words that the " +
  'documents are likely to use, and name what the message refers to: the search does not see the conversation. ' +
  'Reply with the query alone.';

/** Follows the reason of a failed search in a tool response. */
export const FAILED_SEARCH_ADVICE =
  'What the documents say is not known: search again, or tell the user that the search failed.';

/** The line of the instructions that says what the collection covers. */
const COVERAGE = /^The documents cover: (.+)\.$/m;

export function formatCoverage(subjects: readonly string[]): string {
  return `The documents cover: ${subjects.join(', ').replace(/\.+$/, '')}.`;
}

export function parseCoverage(instructions: string): string | null {
  return COVERAGE.exec(instructions)?.[1] ?? null;
}

/** A labelled block of a prompt. Lines of the text that look like a marker are indented, so that none can be forged. */
export function formatPromptBlock(name: string, text: string): string {
  return `=== ${name} ===\n${text.replace(/^===/gm, ' ===')}\n=== end ===`;
}
