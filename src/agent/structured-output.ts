import { cleanAnswer } from '../citations/clean-answer.ts';
import type { MarkerNumbers } from '../citations/marker-numbers.ts';
import type { SourceRegister } from '../citations/source-register.ts';

/** The texts of an object as paragraphs, in order, so that their citations can be checked as those of an answer. */
export function joinTexts(output: unknown): string {
  if (typeof output === 'string') return output;
  if (typeof output !== 'object' || output === null) return '';
  return Object.values(output)
    .map(joinTexts)
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

/** A copy of an object whose texts cite only known sources, by their numbers. */
export function cleanTexts(output: unknown, sources: SourceRegister, numbers: MarkerNumbers): unknown {
  if (typeof output === 'string') {
    const { text } = cleanAnswer(output, sources);
    return numbers.apply({ answer: text, citations: [], sentences: [] }).answer;
  }
  if (Array.isArray(output)) return output.map((value) => cleanTexts(value, sources, numbers));
  if (typeof output !== 'object' || output === null) return output;
  return Object.fromEntries(
    Object.entries(output).map(([name, value]) => [name, cleanTexts(value, sources, numbers)]),
  );
}
