import { indexTerms } from '../../lexical/terms.ts';

/** Forms that a stemmer does not bring together. */
const IRREGULAR = {
  send: 'sent',
  lose: 'lost',
  build: 'built',
  make: 'made',
  keep: 'kept',
  hold: 'held',
  find: 'found',
  give: 'given gave',
  take: 'taken took',
  write: 'written wrote',
  choose: 'chosen chose',
  run: 'ran',
  begin: 'began begun',
  know: 'known knew',
  show: 'shown',
  mean: 'meant',
  buy: 'bought',
  bring: 'brought',
  teach: 'taught',
  lead: 'led',
  pay: 'paid',
  say: 'said',
  speak: 'spoken spoke',
  break: 'broken broke',
  drive: 'driven drove',
  grow: 'grown grew',
  become: 'became',
  child: 'children',
  person: 'people',
  index: 'indices indexes',
  matrix: 'matrices',
  vertex: 'vertices',
};

/** Words about the words: they need no support, but count where they have it. */
const OPTIONAL = `roughly approximately typically usually generally basically essentially simply additionally
  furthermore moreover however therefore thus page document documentation docs text source article guide chapter
  section manual says mentions explains describes according note overall example`;

let bases: Map<string, string> | undefined;

/** The index terms of a text, with irregular forms brought together. */
export function termsOf(text: string): string[] {
  bases ??= new Map(
    Object.entries(IRREGULAR).flatMap(([base, forms]) =>
      forms.split(' ').map((form): [string, string] => [termOf(form), termOf(base)]),
    ),
  );
  const known = bases;
  return indexTerms(text).map((term) => known.get(term) ?? term);
}

const LONGEST_KEPT_WORD = 40;
const MOST_KEPT_WORDS = 10_000;
const kept = new Map<string, readonly string[]>();

/** The same for one word. Answers and passages repeat their words: a bounded number is remembered. */
export function termsOfWord(word: string): readonly string[] {
  const known = kept.get(word);
  if (known !== undefined) return known;
  const terms = termsOf(word);
  if (word.length > LONGEST_KEPT_WORD) return terms;
  if (kept.size >= MOST_KEPT_WORDS) kept.clear();
  kept.set(word, terms);
  return terms;
}

let optional: Set<string> | undefined;

export function isOptional(term: string): boolean {
  optional ??= new Set(indexTerms(OPTIONAL));
  return optional.has(term);
}

function termOf(word: string): string {
  return indexTerms(word)[0] ?? word;
}
