import { queryTerms } from '../../text/terms.ts';

const FENCED = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)/g;
/** Lines that people paste beside a question: prompts, statements, brackets. What a program says in words stays. */
const PASTED =
  /^\s*(?:\$ |>>> |\.\.\. |#include\b|import\s|from\s+\S+\s+import\b|def\s|class\s+\w+\s*[({:]|const\s|let\s|var\s|return\b|@\w+|<\/?\w+[^>]*>|[{}\][()]+|File "|\s+at\s\S+\()|[{};]\s*$/;
/** What is left must still say what is asked. */
const LEAST_TERMS = 3;

/** A question without the code that was pasted beside it, as long as enough is left of it to search for. */
export function askedPart(question: string): string {
  const trimmed = question.trim();
  const prose = trimmed
    .replace(FENCED, '\n')
    .split('\n')
    .filter((line) => !PASTED.test(line))
    .join('\n')
    .trim();
  return queryTerms(prose).length >= LEAST_TERMS ? prose : trimmed;
}
