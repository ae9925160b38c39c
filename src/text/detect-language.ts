import { STOP_WORDS } from './terms.ts';

/** Frequent words of questions, without those that are common in English texts. */
const FREQUENT_WORDS: Readonly<Record<string, string>> = {
  German:
    'was wie wer wo wann warum welche welcher ich ist sind das der den dem ein eine einen mit für und nicht kann zu',
  French:
    'est les des une dans pour avec que quel quelle quels comment pourquoi où qui sont peut je du le la et',
  Spanish: 'qué cómo cuál cuándo dónde es son el los las una para con por puedo de la se y en del',
  Italian: 'che cosa come quale quando dove perché è sono il gli una per con posso di della si e nel',
  Portuguese: 'que como qual quando onde é são os as uma para com posso de da do se em não',
  Dutch: 'wat hoe welke wanneer waar waarom het een zijn met voor en niet kan ik de van je',
};
const WORDS_BY_LANGUAGE = Object.entries(FREQUENT_WORDS).map(
  ([language, words]) => [language, new Set(words.split(' '))] as const,
);
const MIN_WORDS = 2;

/**
 * The language of a question that is clearly not English; null if it may be. By its frequent words, or as "another
 * language" if most of its letters are not Latin.
 */
export function detectForeignLanguage(question: string): string | null {
  const letters = question.match(/\p{L}/gu) ?? [];
  const others = letters.filter((letter) => !/\p{Script=Latin}/u.test(letter));
  if (others.length * 2 > letters.length) return 'another language';
  // French and Italian write l'API, qu'est.
  const words = [...new Set(question.toLowerCase().match(/\p{L}+/gu) ?? [])];
  const english = words.filter((word) => STOP_WORDS.has(word)).length;
  const [best] = WORDS_BY_LANGUAGE.map(([language, known]) => ({
    language,
    count: words.filter((word) => known.has(word)).length,
  })).sort((a, b) => b.count - a.count);
  return best !== undefined && best.count >= MIN_WORDS && best.count > english ? best.language : null;
}
