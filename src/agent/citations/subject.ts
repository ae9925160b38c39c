import { isOptional } from './claim-terms.ts';
import type { Evidence } from './evidence.ts';
import type { Passage } from './find-passage.ts';
import type { Word } from './plain-words.ts';

const AUXILIARIES = new Set(
  'is are was were be can cannot could may might must shall should will would has have had does do did'.split(
    ' ',
  ),
);
const LONGEST_SUBJECT = 3;

/**
 * Whether a passage speaks of what the sentence is about. A heading may name it, if the sentence speaks of what
 * the passage is about too: "Isaac Sim renders sensors" for "Sensors are rendered", below the heading Isaac Sim.
 */
export function subjectIsNear(words: readonly Word[], passage: Passage, evidence: Evidence): boolean {
  const subject = subjectOf(words);
  const { best } = passage;
  if (subject === null || best === null || best.terms.has(subject)) return true;
  if (best.refersBack && passage.terms.has(subject)) return true;
  if (!evidence.context.has(subject)) return false;
  const other = best.words.find(({ term }) => term !== null)?.term ?? null;
  return best.refersBack || other === null || words.some(({ term }) => term === other);
}

/** The first content word, if a verb seems to follow it soon; null for "Roughly half" or "Use this". */
function subjectOf(words: readonly Word[]): string | null {
  const index = words.findIndex(({ term }) => term !== null && !isOptional(term));
  const subject = words[index];
  if (subject === undefined || /^\d|ly$/.test(subject.lower)) return null;
  const verb = words
    .slice(index + 1, index + 1 + LONGEST_SUBJECT)
    .some(({ lower }) => AUXILIARIES.has(lower) || /[^s]s$|n't$/.test(lower));
  const isPlural = /[^s]s$/.test(subject.lower);
  return verb || isPlural ? subject.term : null;
}
