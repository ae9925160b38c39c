import { CLOSEST_PASSAGES_OPENING } from '../../domain/abstention.ts';
import { type PassageUnit, splitPassageUnits } from '../../text/passage-units.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import { formatExcerpt, formatPassage } from './format-excerpt.ts';
import type { OfflinePassage } from './parse-model-request.ts';
import { extractTopic } from './standalone-query.ts';

export interface PassageRating {
  /** The chance that the passage answers the question. */
  chance: number;
  /** The unit that answers it best. */
  unit: PassageUnit | null;
}

export interface PassageJudge {
  /** Rates each passage, in the same order; null if there is no local model. */
  judge(question: string, passages: readonly OfflinePassage[]): Promise<PassageRating[] | null>;
  /** The calibrated chance that at least one of several passages answers. */
  combineChances(chances: readonly number[]): number;
}

/** Has no model, so that passages are rated by words. */
export const wordPassageJudge: PassageJudge = {
  judge: async () => null,
  combineChances: (chances) => Math.max(0, ...chances),
};

/** Chances from which passages are quoted as an answer or shown as the closest ones. See decisions/0020. */
const ANSWER_CHANCE = 0.55;
const SHOW_CHANCE = 0.2;
/** A second passage is quoted too if its chance is at least this share of the first one's. */
export const SECOND_SHARE = 0.3;
/** Words that are quoted of the first and of the second passage. */
export const FIRST_WORDS = 80;
export const SECOND_WORDS = 40;
const MAX_SHOWN = 2;

interface RatedPassage extends PassageRating {
  passage: OfflinePassage;
}

/** Answers with quotes of the best passages, shows the closest ones, or returns null, depending on their chance. */
export async function answerFromPassages(
  query: string,
  passages: readonly OfflinePassage[],
  { judge, combineChances }: PassageJudge,
): Promise<string | null> {
  const ratings = (await judge(query, passages)) ?? rateByWords(query, passages);
  const rated = passages
    .map((passage, index): RatedPassage => ({ passage, chance: 0, unit: null, ...ratings[index] }))
    // The question is about attached text, however it is worded.
    .sort((a, b) => Number(isAttached(b)) - Number(isAttached(a)) || b.chance - a.chance);
  const [first, second] = rated;
  if (first === undefined) return null;
  const quotesBoth = second !== undefined && second.chance >= SECOND_SHARE * first.chance;
  const chance = combineChances(quotesBoth ? [first.chance, second.chance] : [first.chance]);
  const definition = findDefinition(query, first.passage);
  if (definition !== null) first.unit = definition;
  if (chance >= ANSWER_CHANCE || definition !== null) {
    const excerpts = quotesBoth
      ? [excerptOf(first, FIRST_WORDS), excerptOf(second, SECOND_WORDS)]
      : [excerptOf(first, FIRST_WORDS + SECOND_WORDS)];
    const text = excerpts.filter((excerpt) => excerpt !== '').join('\n\n');
    if (text !== '') return text;
  }
  if (chance < SHOW_CHANCE && !isAttached(first)) return null;
  const shown = rated.slice(0, MAX_SHOWN).map(({ passage }) => formatPassage(passage));
  return [CLOSEST_PASSAGES_OPENING, ...shown].join('\n\n');
}

function isAttached({ passage }: RatedPassage): boolean {
  return passage.isAttached === true;
}

function excerptOf({ passage, unit }: RatedPassage, maxWords: number): string {
  return unit === null ? '' : formatExcerpt(passage, unit, maxWords);
}

/** Finds "X is" for "What is X?", whose chance is too low in a collection of a few short documents. */
function findDefinition(query: string, { text }: OfflinePassage): PassageUnit | null {
  if (!/^(?:what|who)(?:'s|’s)?\s|^(?:define|explain|describe)\b/i.test(query.trim())) return null;
  const definition = new RegExp(
    `^(?:[\\w-]+ ){0,2}${RegExp.escape(extractTopic(query))}s?(?: \\([^)]*\\))? (?:is|are|means|stands for|refers to)\\b`,
    'i',
  );
  return splitPassageUnits(text).find(({ start, end }) => definition.test(text.slice(start, end))) ?? null;
}

/** Rates passages by the share of the question's terms they have, where rarer terms weigh more. */
function rateByWords(query: string, passages: readonly OfflinePassage[]): PassageRating[] {
  const wanted = queryTerms(query);
  const termsOf = passages.map(
    ({ title, headings, text }) => new Set(indexTerms([title, ...headings, text].join('\n'))),
  );
  const weights = wanted.map((term) => {
    const containing = termsOf.filter((terms) => terms.has(term)).length;
    return Math.log(1 + (passages.length + 1) / (containing + 0.5));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const shareOf = (terms: ReadonlySet<string>) =>
    wanted.reduce((sum, term, index) => sum + (terms.has(term) ? (weights[index] ?? 0) : 0), 0) / total;
  return passages.map(({ text }, index) => {
    const units = splitPassageUnits(text).map((unit) => {
      const leadIn = unit.leadIn === null ? '' : text.slice(unit.leadIn.start, unit.leadIn.end);
      return { unit, share: shareOf(new Set(indexTerms(`${leadIn}\n${text.slice(unit.start, unit.end)}`))) };
    });
    const best = units.toSorted((a, b) => b.share - a.share)[0];
    return { chance: shareOf(termsOf[index] ?? new Set()), unit: best?.unit ?? null };
  });
}
