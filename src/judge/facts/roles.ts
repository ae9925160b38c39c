import type { Evidence } from './evidence.ts';
import type { Passage } from './find-passage.ts';
import { isOptional, type Word } from './words.ts';

/** Beyond this, the order of words says little, and comparing it costs more. */
const MOST_TERMS = 60;
/** Words after "than" that name what is compared with. */
const COMPARED_WORDS = 4;
const JOINS_LIST = new Set(['and', 'or', 'nor', '&']);

/**
 * Whether a sentence turns around who does what to whom: "the client calls the server" for "the server calls the
 * client". At least three shared words must stand in the reverse order; the parts of one list do not count, and
 * a passive on one side only explains the order.
 */
export function rolesSwapped(words: readonly Word[], evidence: readonly Word[]): boolean {
  if (comparisonSwapped(words, evidence)) return true;
  if (isPassive(words) !== isPassive(evidence)) return false;
  const positions = new Map<string, number>();
  const repeated = new Set<string>();
  evidence.forEach(({ term }, index) => {
    if (term === null) return;
    if (positions.has(term)) repeated.add(term);
    positions.set(term, index);
  });
  const shared: { position: number; list: number }[] = [];
  const seen = new Set<string>();
  let list = 0;
  words.forEach(({ term, lower }, index) => {
    const before = words[index - 1];
    if (!JOINS_LIST.has(lower) && !before?.endsClause && !JOINS_LIST.has(before?.lower ?? '')) list += 1;
    if (term === null || seen.has(term) || repeated.has(term) || shared.length >= MOST_TERMS) return;
    seen.add(term);
    const position = positions.get(term);
    if (position !== undefined) shared.push({ position, list });
  });
  return longestReversal(shared) >= 3;
}

/** "A is faster than B" for "B is faster than A". */
function comparisonSwapped(words: readonly Word[], evidence: readonly Word[]): boolean {
  const [before, after] = sidesOfThan(evidence);
  const [, claimed] = sidesOfThan(words);
  return !claimed.some((term) => after.includes(term)) && claimed.some((term) => before.includes(term));
}

function sidesOfThan(words: readonly Word[]): [before: string[], after: string[]] {
  const than = words.findIndex(({ lower }) => lower === 'than');
  if (than < 0) return [[], []];
  const terms = (side: readonly Word[]) => side.map(({ term }) => term).filter((term) => term !== null);
  return [terms(words.slice(0, than)), terms(words.slice(than + 1, than + 1 + COMPARED_WORDS))];
}

function isPassive(words: readonly Word[]): boolean {
  return words.some(({ lower }) => lower === 'by');
}

/**
 * The length of the longest run of words that stand the other way round. There may be gaps in a run that begins
 * with the first word, the subject; any other must be without.
 */
function longestReversal(shared: readonly { position: number; list: number }[]): number {
  const fromFirst: number[] = [];
  let longest = 0;
  let run = 0;
  shared.forEach((word, index) => {
    const reverses = (other: typeof word | undefined) =>
      other !== undefined && other.position > word.position && other.list !== word.list;
    run = reverses(shared[index - 1]) ? run + 1 : 1;
    let length = index === 0 ? 1 : 0;
    fromFirst.forEach((before, earlier) => {
      if (before > 0 && reverses(shared[earlier])) length = Math.max(length, before + 1);
    });
    fromFirst.push(length);
    longest = Math.max(longest, run, length);
  });
  return longest;
}

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
