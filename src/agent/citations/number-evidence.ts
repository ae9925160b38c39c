import { isNumber, isUnit, type NumberFact, proseOf } from './claim-facts.ts';
import type { EvidenceClause } from './evidence.ts';
import { wordsOf } from './plain-words.ts';

const LOOK_AROUND = 40;
const WORDS_AROUND = 3;

/** Whether a number is given with the same unit, or with none. */
export function holdsNumber(numbers: readonly NumberFact[], { value, unit }: NumberFact): boolean {
  return numbers.some(
    (one) => one.value === value && (unit === null || one.unit === null || one.unit === unit),
  );
}

/** "ROS 2" in a text that writes ROS2. */
export function isPartOfName(sentence: string, { at, value }: NumberFact, haystack: string): boolean {
  const before = proseOf(sentence).slice(Math.max(0, at - LOOK_AROUND), at);
  const name = /\p{L}+(?=[\s-]$)/u.exec(before)?.[0];
  return name !== undefined && haystack.includes(`${name.toLowerCase()}${value}`);
}

/** Whether the text gives a number of the sentence for something else, and another number for this. */
export function belongsToAnother(
  sentence: string,
  number: NumberFact,
  evidence: readonly EvidenceClause[],
): boolean {
  const around = termsAround(proseOf(sentence), number);
  const isNearTheSame = (accepts: (found: NumberFact) => boolean) =>
    evidence.some(({ prose, numbers }) =>
      numbers.some((found) => accepts(found) && !termsAround(prose, found).isDisjointFrom(around)),
    );
  return (
    !isNearTheSame(({ value }) => value === number.value) &&
    isNearTheSame(({ value }) => value !== number.value)
  );
}

const CUT = /[,;:!?()]|\.(?:\s|$)|\b(?:and|or|then|to)\b|\d/i;

/** The content words next to a number, up to the next number or the end of the phrase; its unit does not count. */
function termsAround(prose: string, { at, end }: NumberFact): Set<string> {
  const before =
    prose
      .slice(Math.max(0, at - LOOK_AROUND), at)
      .split(CUT)
      .at(-1) ?? '';
  const after = prose.slice(end, end + LOOK_AROUND).split(CUT)[0] ?? '';
  const near = [...wordsOf(before).slice(-WORDS_AROUND), ...wordsOf(after).slice(0, WORDS_AROUND + 1)];
  return new Set(
    near.flatMap(({ term, lower }) => (term === null || isUnit(lower) || isNumber(lower) ? [] : [term])),
  );
}
