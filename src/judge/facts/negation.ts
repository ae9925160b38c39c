import type { PassageMatch } from './evidence.ts';
import type { TermWord } from './split-words.ts';
import { toBaseTermsOfWord } from './split-words.ts';

/** A claim that asserts a larger share of the denied terms contradicts the passage. */
const CONTRADICTED_SHARE = 0.6;

/** Whether a claim denies what a passage says, asserts what it denies, or uses an opposite. */
export function contradictsPassage(
  words: readonly TermWord[],
  content: readonly (readonly string[])[],
  passage: PassageMatch,
): boolean {
  const { best } = passage;
  if (best === null) return false;
  const denied = deniedTerms(words);
  // A negation in a neighbouring sentence does not count.
  const sameSentence = passage.clauses.filter(({ sentence }) => sentence === best.sentence);
  const deniedThere = new Set(sameSentence.flatMap((one) => deniedTerms(one.words).flat()));
  for (const scope of denied) {
    if (scope.some((term) => deniedThere.has(term))) continue;
    if (scope.some((term) => passage.terms.has(term))) return true;
  }
  const claimed = new Set(content.flat());
  const deniedHere = new Set(denied.flat());
  for (const scope of deniedTerms(best.words)) {
    if (scope.some((term) => deniedHere.has(term))) continue;
    const shared = scope.filter((term) => claimed.has(term)).length;
    if (shared / scope.length > CONTRADICTED_SHARE) return true;
  }
  const said = new Set(words.flatMap((word) => toBaseTermsOfWord(word.lower)));
  return [...said].some((term) => saysOpposite(term, best.terms) && !sharesOpposite(term, said, best.terms));
}

/** Whether both mention the opposite: "the oldest rather than the newest". */
function sharesOpposite(term: string, said: ReadonlySet<string>, there: ReadonlySet<string>): boolean {
  return [...said].some((other) => there.has(other) && saysOpposite(term, new Set([other])));
}

export const NEGATION_WORDS: ReadonlySet<string> = new Set(
  `not cannot never no none neither nor nothing nobody nowhere without hardly can't couldn't didn't doesn't don't
  hadn't hasn't haven't isn't aren't wasn't weren't won't wouldn't shouldn't mustn't needn't`.split(/\s+/),
);
/** Negations that also deny the word before them: "keeps nothing for late joiners". */
const DENIES_BEFORE = new Set(['nothing', 'none', 'nobody', 'nowhere']);
/** Content words that a negation denies, within so many words after it. */
const MAX_SCOPE = 3;
const MAX_REACH = 10;

/** For each negation, the terms that it denies: the next few words of its clause. */
function deniedTerms(words: readonly TermWord[]): string[][] {
  const denied: string[][] = [];
  words.forEach((word, index) => {
    if (!NEGATION_WORDS.has(word.lower)) return;
    const next = words[index + 1]?.lower;
    if (word.lower === 'not' && (next === 'only' || next === 'just' || next === 'merely')) return;
    const scope: string[] = [];
    for (const [at, { term }] of words.slice(index + 1, index + 1 + MAX_REACH).entries()) {
      if (scope.length === MAX_SCOPE || words[index + at]?.endsClause) break;
      if (term !== null) scope.push(term);
    }
    if (scope.length === 0 || DENIES_BEFORE.has(word.lower)) {
      const before = words
        .slice(Math.max(0, index - MAX_SCOPE), index)
        .findLast(({ term }) => term !== null)?.term;
      if (before !== null && before !== undefined) scope.push(before);
    }
    if (scope.length > 0) denied.push(scope);
  });
  return denied;
}

const OPPOSITES = `always never, before after, above below, more less, more fewer, most least, first last, oldest newest, older
  newer, longest shortest, longer shorter, largest smallest, larger smaller, higher lower, highest lowest, faster
  slower, fast slow, minimum maximum, best worst, early late, earlier later, increase decrease, increase reduce,
  enable disable, allow forbid, allow prevent, accept reject, include exclude, succeed fail, success failure,
  start stop, open close, add remove, true false, required optional, mandatory optional, synchronous asynchronous,
  static dynamic, internal external, public private, left right, positive negative, compatible incompatible, valid
  invalid, correct incorrect, complete incomplete, visible invisible, dependent independent, active inactive,
  connect disconnect`;

let opposites: Map<string, Set<string>> | undefined;

function oppositesOf(term: string): ReadonlySet<string> | undefined {
  if (opposites === undefined) {
    opposites = new Map();
    for (const pair of OPPOSITES.split(/,\s+/)) {
      const [a = '', b = ''] = pair.split(/\s+/).map((word) => toBaseTermsOfWord(word)[0] ?? '');
      opposites.set(a, (opposites.get(a) ?? new Set()).add(b));
      opposites.set(b, (opposites.get(b) ?? new Set()).add(a));
    }
  }
  return opposites.get(term);
}

const PREFIXES = ['un', 'non'];
const SHORTEST_STEM = 5;

/** Whether a text has the opposite of a term but not the term: "enable" for "disable". */
function saysOpposite(term: string, said: ReadonlySet<string>): boolean {
  if (said.has(term)) return false;
  for (const opposite of oppositesOf(term) ?? []) if (said.has(opposite)) return true;
  return PREFIXES.some((prefix) => {
    const bare = term.startsWith(prefix) ? term.slice(prefix.length) : '';
    if (bare.length >= SHORTEST_STEM && said.has(bare)) return true;
    return term.length >= SHORTEST_STEM && said.has(prefix + term);
  });
}
