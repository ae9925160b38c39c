import { queryTerms, STOP_WORDS } from '../../text/terms.ts';
import { oneLine } from '../../text/visible-text.ts';
import { replyToSmallTalk } from './small-talk.ts';

/** Words that stand for what was spoken of before. */
const PRONOUN = /\b(?:it|its|they|them|their|theirs|he|she|him|her|his|hers)\b/i;
/** The same with words that are also something else; only where nothing follows that they could belong to. */
const DEMONSTRATIVE =
  /\b(?:this|that|these|those)\b(?=\s*(?:[?.!,]|$|(?:is|are|was|were|does|do|did|can|could|will|would|work|works|mean|means|happen|happens|one|ones|approach|method|case|thing|tool|topic)\b))/i;
const OPENS_FOLLOW_UP =
  /^(?:and|but|so|also|then|what about|how about|what else|anything else|why not|how so|how come|more|tell me more|go on|continue|elaborate|for example|such as|in what way|which one|an example|examples?)\b/i;
/** A question with more telling words than this says itself what it is about, however it begins. */
const MAX_OPEN_TERMS = 2;
const ASKS_WHY = /^why\b/i;
/** What comes before it in the same question may be what a pronoun stands for. */
const JOINED_BEFORE = /^(.*?)(?:\band\b|\bor\b|\bbut\b|,|;|\bso that\b|\bwhen\b|\bif\b)/i;

/** Asks for more of the same without saying of what. */
const GENERIC = new Set(
  queryTerms(
    'example examples sample instance detail details more code step steps advantages disadvantages benefits drawbacks limitations difference alternatives pros cons give show explain elaborate',
  ),
);
const MAX_TOPIC_WORDS = 4;
/** Words that are written like a name: Isaac, ROS, `nav2_params`, 6.15.0; not the one that opens a sentence. */
const NAME = /^(?=.*[\p{L}\p{N}]{2})(?:\p{Lu}[\p{L}\p{N}_.®-]*|[\p{L}\p{N}]+[_.][\p{L}\p{N}_.]+)$/u;
/** The mark of a whole clause; what is just named has none of these. */
const CLAUSE = /\b(?:i|you|we|they|is|are|was|were|do|does|did|can|could|will|would|should)\b/i;
/** Words that ask, wherever they stand. */
const ASKING =
  /^(?:what|which|who|where|when|why|how|can|could|may|need|want|use|using|between|differ|better)$/i;

/** A follow-up as a query that stands on its own; anything else as it is. */
export function standaloneQuery(question: string, earlier: readonly string[]): string {
  let topic = '';
  let standalone = '';
  for (const turn of [...earlier.filter((text) => replyToSmallTalk(text, []) === null), question]) {
    standalone = resolve(turn.trim(), topic);
    // A follow-up goes on about the same thing.
    if (standalone === turn.trim() || topic === '') topic = shortTopic(standalone) || topic;
  }
  return standalone;
}

/** Few words that name the subject: the topic itself if it is short, else the names in it, else its first telling words. */
function shortTopic(question: string): string {
  const topic = topicOf(question);
  if (queryTerms(topic).length === 0) return '';
  const words = topic.split(' ');
  if (words.length <= MAX_TOPIC_WORDS && !CLAUSE.test(topic)) return topic;
  const telling = words
    .map((word) => word.replace(/^["'(]+|["'),;:?!.]+$/g, ''))
    .filter((word) => word !== '' && !STOP_WORDS.has(word.toLowerCase()) && !ASKING.test(word));
  const named = telling.flatMap((word, index) => (index > 0 && isNamed(word) ? [index] : []));
  const from = named[0];
  if (from === undefined) return telling.slice(0, MAX_TOPIC_WORDS).join(' ');
  // The words of one name stand together, with a number after it: Isaac Sim, ROS 2.
  let to = from + 1;
  while (to < telling.length && (named.includes(to) || /^\d+$/.test(telling[to] ?? ''))) to += 1;
  const begin = isNamed(telling[from - 1] ?? '') && from === 1 ? 0 : from;
  return telling.slice(begin, Math.min(to, begin + MAX_TOPIC_WORDS)).join(' ');
}

function isNamed(word: string): boolean {
  return NAME.test(word);
}

function resolve(question: string, topic: string): string {
  if (topic === '') return question;
  const pronoun = PRONOUN.exec(question) ?? DEMONSTRATIVE.exec(question);
  if (pronoun !== null && !isExplainedBefore(question.slice(0, pronoun.index))) {
    const possessive = /^(?:its|their|theirs|his|her|hers)$/i.test(pronoun[0]) ? "'s" : '';
    const end = pronoun.index + pronoun[0].length;
    return `${question.slice(0, pronoun.index)}${topic}${possessive}${question.slice(end)}`;
  }
  if (!isElliptical(question) || mentions(question, topic)) return question;
  return `${question.replace(/[\s?!.]+$/, '')} (${topic})`;
}

function isElliptical(question: string): boolean {
  const said = queryTerms(topicOf(question)).filter((term) => !GENERIC.has(term));
  if (ASKS_WHY.test(question)) return said.length < MAX_OPEN_TERMS;
  return said.length === 0 || (said.length <= MAX_OPEN_TERMS && OPENS_FOLLOW_UP.test(question));
}

/** "What is a costmap and how is it used?" says itself what "it" is. */
function isExplainedBefore(before: string): boolean {
  const joined = JOINED_BEFORE.exec(before);
  return joined !== null && queryTerms(topicOf(joined[1] ?? '')).length > 0;
}

function mentions(question: string, topic: string): boolean {
  const said = new Set(queryTerms(question));
  return queryTerms(topic).every((term) => said.has(term));
}

/** How questions begin before they come to what they are about. */
const SCAFFOLD = new RegExp(
  `^(?:${[
    '(?:please|ok(?:ay)?|so|and|but|well|now|also|then|hi|hello|hey)[,!.]?',
    '(?:can|could|would|will) (?:you|i|we|one)(?: please)?',
    "(?:i (?:want|need|would like|'d like)|i am trying|help me|do you know(?: how)?) to",
    '(?:tell|show|teach|give|remind) me(?: (?:more|something|a bit))?(?: (?:about|on|of))?',
    '(?:explain|describe|define|summari[sz]e|list|compare|discuss)(?: to me)?',
    'how (?:long|much|many|often|far|old|big|fast|large|high|tall|deep|soon|quickly|well)',
    'who (?!is\\b|was\\b|has\\b|does\\b)[a-z]+(?:s|ed)',
    'said (?:about|of)',
    "(?:what|who|which|where|when|why|how)(?:'s|’s)?",
    '(?:is|are|was|were|do|does|did|has|have|had|should|must|may|might)',
    '(?:i|we|you|one|it|they|people|someone)',
    '(?:know|understand|learn|find out|see|use|get|make|do|mean|work)(?: about)?',
    '(?:about|of|on|with|for|to)',
    '(?:the|a|an|some|any|this|that|my|your|its|their)',
    '(?:difference between|meaning of|purpose of|definition of|role of|use of|point of)',
  ].join('|')})\\s+`,
  'i',
);
const TRAILING =
  /[\s?!.,;:]+$|\s+(?:mean|means|work|works|do|does|used for|for|exactly|again|please|stand for|called)[\s?!.]*$/i;

const MAX_SHOWN = 80;
/** Questions whose topic is a thing and not something that is done. */
const ASKS_FOR_A_THING =
  /^(?:(?:what|who|where)(?:'s|’s| is| are| was| were)\b|tell me about|define|explain|describe)/i;

/** What a question is about, as a refusal names it: the thing, or else the question itself in quotes. */
export function namedTopic(question: string): string {
  return ASKS_FOR_A_THING.test(question.trim())
    ? oneLine(topicOf(question), MAX_SHOWN)
    : `"${oneLine(question, MAX_SHOWN)}"`;
}

/** What a question is about, in its own words: "What is Isaac Sim?" is about "Isaac Sim". */
export function topicOf(question: string): string {
  const trimmed = question.trim().replace(/\s+/g, ' ');
  let topic = trimmed;
  for (;;) {
    const shorter = topic.replace(SCAFFOLD, '').replace(TRAILING, '').trim();
    if (shorter === topic || shorter === '') break;
    topic = shorter;
  }
  return topic.replace(TRAILING, '') || trimmed;
}

const FENCED = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)/g;
/** Lines that people paste beside a question: prompts, statements, brackets. What a program says in words stays. */
const PASTED =
  /^\s*(?:\$ |>>> |\.\.\. |#include\b|import\s|from\s+\S+\s+import\b|def\s|class\s+\w+\s*[({:]|const\s|let\s|var\s|return\b|@\w+|<\/?\w+[^>]*>|[{}\][()]+|File "|\s+at\s\S+\()|[{};]\s*$/;
/** What is left must still say what is asked. */
const LEAST_TERMS = 3;

/** A question without the code that was pasted beside it, as long as enough is left of it to search for. */
export function askedPart(question: string): string {
  const trimmed = question.trim();
  const prose = trimmed
    .replace(FENCED, '\n')
    .split('\n')
    .filter((line) => !PASTED.test(line))
    .join('\n')
    .trim();
  return queryTerms(prose).length >= LEAST_TERMS ? prose : trimmed;
}
