import { CLOSEST_PASSAGES_OPENING } from '../../domain/abstention.ts';
import { splitPassageParts } from '../../text/passage-parts.ts';
import { indexTerms, queryTerms } from '../../text/terms.ts';
import { formatSection } from './format-section.ts';
import type { OfflinePassage } from './parse-model-request.ts';
import { meetsNeeds } from './question-needs.ts';
import { type SectionPart, selectSection, textOfPart } from './select-section.ts';
import { extractTopic } from './standalone-query.ts';

/** Scores from which passages are an answer, or shown as the closest ones. See decisions/0020. */
const ANSWER_SCORE = 0.5;
const SHOWN_SCORE = 0.35;
/** The second passage is part of an answer if its score is lower by this at most. */
const SECOND_MARGIN = 0.1;
const CLOSEST_PASSAGES = 3;

/**
 * The passages to answer with: the closest attached one, the first that defines what is asked for, or the first one and
 * the second if it scores nearly the same. None if the first does not score high enough to be shown.
 */
export function choosePassages(query: string, passages: readonly OfflinePassage[]): OfflinePassage[] {
  const attached = passages.filter(({ isAttached }) => isAttached);
  const [closest] = attached.toSorted((a, b) => sharedTerms(query, b) - sharedTerms(query, a));
  const chosen = closest ?? passages.find((passage) => isDefinition(query, passage));
  if (chosen !== undefined) return [chosen];
  const [best] = passages;
  if (best === undefined || best.score < SHOWN_SCORE) return [];
  return passages.slice(0, 2).filter(({ score }) => score >= best.score - SECOND_MARGIN);
}

/**
 * Answers with the sections of the chosen passages. Shows the closest passages instead if the score is too low or the
 * sections lack what the question asks for. Null if there is nothing to quote.
 */
export function answerFromPassages(
  query: string,
  chosen: readonly OfflinePassage[],
  found: {
    /** Highest score first. */
    passages: readonly OfflinePassage[];
    /** The passages around the chosen ones, in the order of their document. */
    around: readonly (readonly OfflinePassage[])[];
  },
): string | null {
  const [best] = chosen;
  if (best === undefined) return null;
  const isSure = best.score >= ANSWER_SCORE || isDefinition(query, best);
  const answer = selectSections(query, chosen, found.around);
  const isAnswer = isSure && meetsNeeds(query, answer.flat().map(textOfPart).join('\n\n'));
  const shown = isAnswer
    ? answer
    : selectSections(query, [...chosen, ...found.passages], found.around).slice(0, CLOSEST_PASSAGES);
  const sections = shown.map(formatSection).filter((text) => text !== '');
  if (sections.length === 0) return null;
  return [...(isAnswer ? [] : [CLOSEST_PASSAGES_OPENING]), ...sections].join('\n\n');
}

/** The section of each passage that no earlier section contains. */
function selectSections(
  query: string,
  passages: readonly OfflinePassage[],
  around: readonly (readonly OfflinePassage[])[],
): SectionPart[][] {
  const shownRefs = new Set<string>();
  return passages.flatMap((passage) => {
    if (shownRefs.has(passage.ref)) return [];
    const neighbours = around.find((read) => read.some(({ ref }) => ref === passage.ref)) ?? [];
    const section = selectSection(passage, neighbours, query);
    for (const part of section) shownRefs.add(part.passage.ref);
    return [section];
  });
}

/** The number of terms of a query that a passage has. */
function sharedTerms(query: string, { text }: OfflinePassage): number {
  const terms = new Set(indexTerms(text));
  return queryTerms(query).filter((term) => terms.has(term)).length;
}

/** Whether a sentence of a passage starts with "X is", for the question "What is X?". */
function isDefinition(query: string, { text }: OfflinePassage): boolean {
  if (!/^(?:what|who)(?:'s|’s| is| are)\s|^(?:define|explain|describe)\b/i.test(query.trim())) return false;
  // Node 22 has no RegExp.escape.
  const topic = extractTopic(query).replace(/[^\p{L}\p{N}\s]/gu, '\\$&');
  const definition = new RegExp(
    `^(?:[\\w-]+ ){0,2}${topic}s?(?: \\([^)]*\\))? (?:is|are|means|stands for|refers to)\\b`,
    'i',
  );
  return splitPassageParts(text).some(({ sentences }) =>
    sentences.some(({ start, end }) => definition.test(text.slice(start, end))),
  );
}
