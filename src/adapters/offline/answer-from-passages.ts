import { CLOSEST_PASSAGES } from '../../domain/abstention.ts';
import { type PassageUnit, passageUnits } from '../../text/passage-units.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { Passage } from './read-request.ts';
import { topicOf } from './standalone-query.ts';
import { tellUnit, tellWhole } from './tell-passage.ts';

/** What a judge makes of a passage: the chance that it answers the question, and the part that is nearest to it. */
export interface Judgement {
  chance: number;
  unit: PassageUnit | null;
}

/** Whoever tells which passages answer a question. */
export interface PassageJudge {
  /** One for each passage, in the same order; null where there is no local model to judge with. */
  judge(question: string, passages: readonly Passage[]): Promise<Judgement[] | null>;
  /** The calibrated chance that at least one of some passages answers, by the chances of each. */
  chanceOfAny(chances: readonly number[]): number;
}

/** The judge where there is no other. */
export const wordsAlone: PassageJudge = {
  judge: async () => null,
  chanceOfAny: (chances) => Math.max(0, ...chances),
};

/**
 * From these chances on what is found is told as an answer, and shown as the closest passages; decisions/0020 says how
 * often each is right.
 */
const ANSWER_FROM = 0.55;
const PASSAGES_FROM = 0.2;
/** A second passage joins an answer if it is so likely to answer, against the first; both share the words of one. */
export const SECOND_FROM = 0.3;
export const WORDS_OF_FIRST = 80;
export const WORDS_OF_SECOND = 40;
const MOST_SHOWN = 2;

/** What passages say to a question. */
export interface Found {
  /** As it is said: an answer, or the closest passages; null if they are too far from the question. */
  said: string | null;
  chance: number;
}

interface Candidate extends Judgement {
  passage: Passage;
}

/** An answer, the closest passages, or nothing, by the chance that the best of them answer. */
export async function answerFromPassages(
  query: string,
  passages: readonly Passage[],
  { judge, chanceOfAny }: PassageJudge,
): Promise<Found> {
  const judged = (await judge(query, passages)) ?? byWords(query, passages);
  const candidates = passages
    .map((passage, index): Candidate => ({ passage, chance: 0, unit: null, ...judged[index] }))
    // What the person gave along is what the question is about, however it is asked.
    .sort((a, b) => Number(isGiven(b)) - Number(isGiven(a)) || b.chance - a.chance);
  const [first, second] = candidates;
  if (first === undefined) return { said: null, chance: 0 };
  const joins = second !== undefined && second.chance >= SECOND_FROM * first.chance;
  const chance = chanceOfAny(joins ? [first.chance, second.chance] : [first.chance]);
  const definition = definitionIn(query, first);
  if (definition !== null) first.unit = definition;
  if (chance >= ANSWER_FROM || definition !== null) {
    const answer = joins
      ? [tell(first, WORDS_OF_FIRST), tell(second, WORDS_OF_SECOND)]
      : [tell(first, WORDS_OF_FIRST + WORDS_OF_SECOND)];
    const said = answer.filter((part) => part !== '').join('\n\n');
    if (said !== '') return { said, chance };
  }
  if (chance < PASSAGES_FROM && !isGiven(first)) return { said: null, chance };
  const shown = candidates.slice(0, MOST_SHOWN).map(({ passage }) => tellWhole(passage));
  return { said: [CLOSEST_PASSAGES, ...shown].join('\n\n'), chance };
}

function isGiven({ passage }: Candidate): boolean {
  return passage.given === true;
}

function tell({ passage, unit }: Candidate, mostWords: number): string {
  return unit === null ? '' : tellUnit(passage, unit, mostWords);
}

/** "What is X?" is answered by "X is", however little else there is to judge by. */
function definitionIn(query: string, { passage: { text } }: Candidate): PassageUnit | null {
  if (!/^(?:what|who)(?:'s|’s)?\s|^(?:define|explain|describe)\b/i.test(query.trim())) return null;
  const topic = RegExp.escape(topicOf(query));
  const defines = new RegExp(
    `^(?:[\\w-]+ ){0,2}${topic}s?(?: \\([^)]*\\))? (?:is|are|means|stands for|refers to|describes)\\b`,
    'i',
  );
  return passageUnits(text).find(({ start, end }) => defines.test(text.slice(start, end))) ?? null;
}

/** Without a model on this machine: the share of the question's words, the rarer ones counting more. */
function byWords(query: string, passages: readonly Passage[]): Judgement[] {
  const wanted = queryTerms(query);
  const held = passages.map(
    ({ title, headings, text }) => new Set(indexTerms([title, ...headings, text].join('\n'))),
  );
  const weights = wanted.map((term) => {
    const containing = held.filter((terms) => terms.has(term)).length;
    return Math.log(1 + (passages.length + 1) / (containing + 0.5));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const share = (terms: ReadonlySet<string>) =>
    wanted.reduce((sum, term, index) => sum + (terms.has(term) ? (weights[index] ?? 0) : 0), 0) / total;
  return passages.map(({ text }, index) => {
    const units = passageUnits(text).map((unit) => {
      const leadIn = unit.leadIn === null ? '' : text.slice(unit.leadIn.start, unit.leadIn.end);
      return { unit, held: share(new Set(indexTerms(`${leadIn}\n${text.slice(unit.start, unit.end)}`))) };
    });
    const best = units.reduce<(typeof units)[number] | null>(
      (most, one) => (most === null || one.held > most.held ? one : most),
      null,
    );
    return { chance: share(held[index] ?? new Set()), unit: best?.unit ?? null };
  });
}
