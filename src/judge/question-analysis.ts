import type { UnitKind } from '../text/passage-units.ts';
import { indexTerms } from '../text/terms.ts';
import { findIdentifiers, findNames } from './facts/claim-facts.ts';

/** The first pattern that matches decides. */
const KINDS = {
  number:
    /\bhow (?:many|much|long|old|far|often|big|tall|large|fast|deep|high|heavy)\b|\b(?:what|which) (?:percentage|number|age|size|port|version|default|limit)\b/,
  time: /\bwhen\b|\b(?:what|which) (?:year|date|day|time|month|century)\b/,
  person: /\bwho(?:se|m)?\b/,
  place: /\bwhere\b|\b(?:what|which) (?:country|city|state|place|town|continent)\b/,
  reason: /\bwhy\b|\bwhat (?:is the reason|causes?d?)\b/,
  command:
    /\b(?:command|flag|option|snippet|code|syntax|import)\b|\bhow (?:do|can|to|should|would) (?:i|you|we)?\b/,
  way: /\bhow\b/,
  'yes or no': /^(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)\b/,
};

/** The kind of answer that a question asks for. */
export type QuestionKind = keyof typeof KINDS | 'other';

export function classifyQuestion(question: string): QuestionKind {
  const lower = question.trim().toLowerCase();
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  return kinds.find((kind) => KINDS[kind].test(lower)) ?? 'other';
}

const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|once|twice|daily|weekly|monthly|yearly)\b/i;
const TIME =
  /\b(?:1\d{3}|20\d{2}|january|february|march|april|june|july|august|september|october|november|december|century|monday|tuesday|wednesday|thursday|friday|saturday|sunday|after|before|until|during|while|when)\b/i;
const REASON =
  /\b(?:because|due to|since|therefore|so that|in order to|caused?|causes|reasons?|results?|leads? to|owing to)\b/i;

/** Whether a unit contains the kind of answer that is asked for: 1, 0, or 0.5 if that cannot be seen. */
export function hasAnswerKind(
  asked: QuestionKind,
  unit: { kind: UnitKind; text: string /** Names that the question does not have. */; newNames: number },
): number {
  if (asked === 'number') return Number(NUMBER.test(unit.text));
  if (asked === 'time') return Number(TIME.test(unit.text));
  if (asked === 'person' || asked === 'place') return Number(unit.newNames > 0);
  if (asked === 'reason') return Number(REASON.test(unit.text));
  if (asked === 'command' && (unit.kind === 'code' || unit.kind === 'steps')) return 1;
  return 0.5;
}

/** Numbers and host names are specific to the user and not looked up. */
const USER_SPECIFIC = /^[\d.,:/%-]+$|^(?:[\w-]+\.)+(?:com|org|net|dev|local)$/;

/** Whether a question names something that is not among the terms of the passages. */
export function hasMissingName(question: string, terms: ReadonlySet<string>): boolean {
  const names = [...findNames(question), ...findIdentifiers(question)];
  return names.some(
    (name) =>
      name.length > 2 && !USER_SPECIFIC.test(name) && !indexTerms(name).some((term) => terms.has(term)),
  );
}
