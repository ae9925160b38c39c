/**
 * - `fact`: asks for a person, a time, a place or a number. It names the very relation it asks about, so an
 *   answer has its words.
 * - `seldom`: asks what documents seldom say: whether something is all there is, or the same as something else,
 *   what to think of it, whether hearsay is true, what is the case just now.
 * - `open`: everything else. It is often told at length and answered in other words.
 */
export type QuestionKind = 'fact' | 'seldom' | 'open';

const OPENING = '^(?:(?:and|but|so|ok|okay|well|then|btw|by the way),? )?';
const FACT = new RegExp(
  `${OPENING}(?:who(?:m|se)?\\b|when (?:did|was|were|does|is|will)\\b|where (?:did|was|were|is|are)\\b|` +
    '(?:in |on |at |by |from )?(?:what|which) (?:year|date|day|month|century|city|country)\\b|' +
    'how (?:many|much|old|far|tall|big|often)\\b|how long (?:did|was|is|does)\\b|' +
    'what (?:do|does|did|will|would) .{1,80}\\bcost\\b|' +
    'what (?:is|are|was|were) the (?:price|cost|fee|salary|age|date|address) (?:of|for)\\b)',
  'i',
);
const SELDOM = [
  /\bthe only\b/i,
  /\b(?:any|or are there|are there any) others?\b|\banything else\b|\bany other\b/i,
  /\bthe same (?:as|thing)\b/i,
  new RegExp(
    `${OPENING}(?:is|are|was|were|do|does|would|should)n['’]t (?:that|this|it|those|these|they|you)\\b`,
    'i',
  ),
  /\b(?:do|would) you (?:think|believe|prefer|like)\b|\byour (?:opinion|favou?rite)\b/i,
  /\b(?:i|we)(?:['’]ve| have)? heard\b|\b(?:i was|we were) told\b/i,
  /\b(?:latest|newest|most recent|right now|today|nowadays|this (?:year|month|week))\b/i,
];
const NEWEST = /\b(?:latest|newest|most recent)\b/i;

/** What a question wants the newest of things to be called; documents that know which it is say so. */
export function newestIn(question: string): string | null {
  return NEWEST.exec(question)?.[0] ?? null;
}

export function questionKind(question: string): QuestionKind {
  const asked = question.trim();
  if (SELDOM.some((pattern) => pattern.test(asked))) return 'seldom';
  return FACT.test(asked) ? 'fact' : 'open';
}
