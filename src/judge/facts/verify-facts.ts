import {
  findClaimedNumbers,
  findIdentifiers,
  findNames,
  findQuotes,
  type NumberFact,
  removeCodeSpans,
} from './claim-facts.ts';
import {
  type ChunkEvidence,
  type EvidenceClause,
  findBestPassage,
  type JudgedPassage,
  normalizeForSearch,
  type PassageMatch,
  prepareEvidence,
  prepareWording,
  toContentTerms,
} from './evidence.ts';
import { contradictsPassage } from './negation.ts';
import { isOptionalTerm, splitTermWords, splitWords, type TermWord, toBaseTerms } from './split-words.ts';

export type ClaimFacts = ReturnType<typeof verifyFacts>;

/** Finds the facts of a claim that can be looked up in a source, and whether they are there. */
export function verifyFacts(claim: string, source: JudgedPassage) {
  const wording = prepareWording(source);
  const evidence = prepareEvidence(source);
  const words = splitTermWords(claim);
  const content = toContentTerms(words, evidence);
  const numbers = findClaimedNumbers(claim);
  const passage = findBestPassage(content, evidence);
  const isAnywhere = createNumberCheck(claim, evidence.clauses, evidence);
  const isNear = createNumberCheck(claim, passage.clauses, evidence);
  return {
    /** The claim is one or more whole sentences of the source, word for word. */
    isVerbatim: wording.findWhole(words) !== null,
    contentCount: content.length,
    /** The share of its content words in the passage that shares most of them. */
    share: passage.share,
    /** Facts that are nowhere in the text, its title or its headings. */
    missing: {
      quotes: findQuotes(claim).filter((quote) => !wording.containsQuote(splitWords(quote))),
      identifiers: findIdentifiers(claim).filter((name) => !containsIdentifier(evidence, name)),
      numbers: numbers.filter((number) => !isAnywhere(number)).map(({ value }) => value),
      names: findNames(claim).filter((name) => !containsName(evidence, name)),
    },
    /** How many of its numbers are outside of that passage. */
    numbersFar: numbers.filter((number) => !isNear(number)).length,
    /** The passage is about something else than the claim. */
    isSubjectFar: !mentionsSubject(words, passage, evidence),
    contradicts: contradictsPassage(words, content, passage),
  };
}

/** Whether the source contains an identifier as a whole word, in any case and possibly in the plural. */
function containsIdentifier({ haystack }: ChunkEvidence, name: string): boolean {
  const sought = normalizeForSearch(name).trim();
  const startsWord = /^[\p{L}\p{N}_]/u.test(sought);
  const endsWord = /[\p{L}\p{N}_]$/u.test(sought);
  const endsNumber = /\d$/.test(sought);
  for (let at = haystack.indexOf(sought); at >= 0; at = haystack.indexOf(sought, at + 1)) {
    const before = haystack.charAt(at - 1);
    const after = haystack.slice(at + sought.length, at + sought.length + 3);
    if (startsWord && /[\p{L}\p{N}_]/u.test(before)) continue;
    if (endsWord && !/^s?(?![\p{L}\p{N}_])/u.test(after)) continue;
    // 1.2 is not 1.2.3.
    if (!(endsNumber && /^\.\d/.test(after))) return true;
  }
  return containsSplitName(haystack, name);
}

function containsName({ haystack, terms }: ChunkEvidence, name: string): boolean {
  const term = toBaseTerms(name).at(-1);
  return term === undefined || terms.has(term) || containsSplitName(haystack, name);
}

/** Whether a camel-case name is written with spaces or hyphens: OpenUSD as "Open USD" or "open-usd". */
function containsSplitName(haystack: string, name: string): boolean {
  if (!/^[\p{L}\p{N}]+$/u.test(name)) return false;
  const parts = name.split(/(?<=\p{Ll}|\p{N})(?=\p{Lu})/u);
  if (parts.length < 2) return false;
  return new RegExp(`(?<![\\p{L}\\p{N}_])${parts.join('[ -]')}s?(?![\\p{L}\\p{N}_])`, 'iu').test(haystack);
}

const LOOK_BACK = 40;

/**
 * Tells for each number of a sentence whether some clauses, the title or the headings give it: with the same unit, only
 * without a unit, or as part of a name ("ROS 2" in a text that writes ROS2).
 */
function createNumberCheck(
  sentence: string,
  clauses: readonly EvidenceClause[],
  { contextNumbers, haystack }: ChunkEvidence,
): (number: NumberFact) => boolean {
  const prose = removeCodeSpans(sentence);
  const given = Map.groupBy(
    [...clauses.flatMap(({ numbers }) => numbers), ...contextNumbers],
    ({ value }) => value,
  );
  const units = new Map(Array.from(given, ([value, same]) => [value, new Set(same.map(({ unit }) => unit))]));
  return ({ value, unit, start }) => {
    const found = units.get(value);
    if (found !== undefined && (unit === null || found.has(unit) || (found.size === 1 && found.has(null))))
      return true;
    const name = /\p{L}+(?=[\s-]$)/u.exec(prose.slice(Math.max(0, start - LOOK_BACK), start))?.[0];
    return name !== undefined && haystack.includes(`${name.toLowerCase()}${value}`);
  };
}

const AUXILIARIES = new Set(
  'is are was were be can cannot could may might must shall should will would has have had does do did'.split(
    ' ',
  ),
);
const LONGEST_SUBJECT = 3;

/**
 * Whether a passage mentions the subject of a claim. A heading counts if the claim also mentions the subject of the
 * passage: "Isaac Sim renders sensors" for "Sensors are rendered" below the heading Isaac Sim.
 */
function mentionsSubject(
  words: readonly TermWord[],
  passage: PassageMatch,
  evidence: ChunkEvidence,
): boolean {
  const subject = findSubject(words);
  const { best } = passage;
  if (subject === null || best === null || best.terms.has(subject)) return true;
  if (best.refersBack && passage.terms.has(subject)) return true;
  if (!evidence.context.has(subject)) return false;
  const passageSubject = best.words.find(({ term }) => term !== null)?.term ?? null;
  return best.refersBack || passageSubject === null || words.some(({ term }) => term === passageSubject);
}

/** The first content word, if a verb seems to follow soon; null for "Roughly half" or "Use this". */
function findSubject(words: readonly TermWord[]): string | null {
  const index = words.findIndex(({ term }) => term !== null && !isOptionalTerm(term));
  const subject = words[index];
  if (subject === undefined || /^\d|ly$/.test(subject.lower)) return null;
  const hasVerb = words
    .slice(index + 1, index + 1 + LONGEST_SUBJECT)
    .some(({ lower }) => AUXILIARIES.has(lower) || /[^s]s$|n't$/.test(lower));
  const isPlural = /[^s]s$/.test(subject.lower);
  return hasVerb || isPlural ? subject.term : null;
}
