import { queryTerms, STOP_WORDS } from '../../text/terms.ts';
import { oneLine } from '../../text/visible-text.ts';
import { replyToSmallTalk } from './small-talk.ts';

/** Words that refer to the topic of an earlier question. */
const PRONOUN = /\b(?:it|its|they|them|their|theirs|he|she|him|her|his|hers)\b/i;
/** Demonstratives, unless a noun follows that they belong to. */
const DEMONSTRATIVE =
  /\b(?:this|that|these|those)\b(?=\s*(?:[?.!,]|$|(?:is|are|was|were|does|do|did|can|could|will|would|work|works|mean|means|happen|happens|one|ones|approach|method|case|thing|tool|topic)\b))/i;
const OPENS_FOLLOW_UP =
  /^(?:and|but|so|also|then|what about|how about|what else|anything else|why not|how so|how come|more|tell me more|go on|continue|elaborate|for example|such as|in what way|which one|an example|examples?)\b/i;
/** A question with more content words names its topic itself. */
const MAX_OPEN_TERMS = 2;
const ASKS_WHY = /^why\b/i;
/** A pronoun after one of these may refer to the text before it in the same question. */
const JOINED_BEFORE = /^(.*?)(?:\band\b|\bor\b|\bbut\b|,|;|\bso that\b|\bwhen\b|\bif\b)/i;

/** Words that ask for more about an unnamed topic. */
const GENERIC_TERMS = new Set(
  queryTerms(
    'example examples sample instance detail details more code step steps advantages disadvantages benefits drawbacks limitations difference alternatives pros cons give show explain elaborate',
  ),
);
const MAX_TOPIC_WORDS = 4;
/** Words written like a name: Isaac, ROS, `nav2_params`, 6.15.0. */
const NAME = /^(?=.*[\p{L}\p{N}]{2})(?:\p{Lu}[\p{L}\p{N}_.®-]*|[\p{L}\p{N}]+[_.][\p{L}\p{N}_.]+)$/u;
/** Words that show a clause rather than a noun phrase. */
const CLAUSE = /\b(?:i|you|we|they|is|are|was|were|do|does|did|can|could|will|would|should)\b/i;
/** Words of a question that are not part of its topic. */
const QUESTION_WORD =
  /^(?:what|which|who|where|when|why|how|can|could|may|need|want|use|using|between|differ|better)$/i;

/** Adds the topic of earlier questions to a follow-up; returns any other question unchanged. */
export function toStandaloneQuery(question: string, earlier: readonly string[]): string {
  let topic = '';
  let standalone = '';
  for (const turn of [...earlier.filter((text) => replyToSmallTalk(text, []) === null), question]) {
    standalone = resolveFollowUp(turn.trim(), topic);
    // A follow-up keeps the topic.
    if (standalone === turn.trim() || topic === '') topic = toShortTopic(standalone) || topic;
  }
  return standalone;
}

/** The topic in few words: all of it if it is short, else the first name in it, else its first content words. */
function toShortTopic(question: string): string {
  const topic = extractTopic(question);
  if (queryTerms(topic).length === 0) return '';
  const words = topic.split(' ');
  if (words.length <= MAX_TOPIC_WORDS && !CLAUSE.test(topic)) return topic;
  const content = words
    .map((word) => word.replace(/^["'(]+|["'),;:?!.]+$/g, ''))
    .filter((word) => word !== '' && !STOP_WORDS.has(word.toLowerCase()) && !QUESTION_WORD.test(word));
  const named = content.flatMap((word, index) => (index > 0 && NAME.test(word) ? [index] : []));
  const from = named[0];
  if (from === undefined) return content.slice(0, MAX_TOPIC_WORDS).join(' ');
  // A name has several words, or a number after it: Isaac Sim, ROS 2.
  let to = from + 1;
  while (to < content.length && (named.includes(to) || /^\d+$/.test(content[to] ?? ''))) to += 1;
  const begin = NAME.test(content[from - 1] ?? '') && from === 1 ? 0 : from;
  return content.slice(begin, Math.min(to, begin + MAX_TOPIC_WORDS)).join(' ');
}

function resolveFollowUp(question: string, topic: string): string {
  if (topic === '') return question;
  const pronoun = PRONOUN.exec(question) ?? DEMONSTRATIVE.exec(question);
  if (pronoun !== null && !isResolvedBefore(question.slice(0, pronoun.index))) {
    const possessive = /^(?:its|their|theirs|his|her|hers)$/i.test(pronoun[0]) ? "'s" : '';
    const end = pronoun.index + pronoun[0].length;
    return `${question.slice(0, pronoun.index)}${topic}${possessive}${question.slice(end)}`;
  }
  if (!isElliptical(question) || mentionsTopic(question, topic)) return question;
  return `${question.replace(/[\s?!.]+$/, '')} (${topic})`;
}

function isElliptical(question: string): boolean {
  const said = queryTerms(extractTopic(question)).filter((term) => !GENERIC_TERMS.has(term));
  if (ASKS_WHY.test(question)) return said.length < MAX_OPEN_TERMS;
  return said.length === 0 || (said.length <= MAX_OPEN_TERMS && OPENS_FOLLOW_UP.test(question));
}

/** Whether the question itself names what a pronoun refers to: "What is a costmap and how is it used?" */
function isResolvedBefore(before: string): boolean {
  const joined = JOINED_BEFORE.exec(before);
  return joined !== null && queryTerms(extractTopic(joined[1] ?? '')).length > 0;
}

function mentionsTopic(question: string, topic: string): boolean {
  const said = new Set(queryTerms(question));
  return queryTerms(topic).every((term) => said.has(term));
}

/** Phrases that introduce the topic of a question. */
const INTRODUCTION = new RegExp(
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
/** Questions about a thing rather than an action. */
const ASKS_FOR_THING =
  /^(?:(?:what|who|where)(?:'s|’s| is| are| was| were)\b|tell me about|define|explain|describe)/i;

/** The topic of a question as a refusal names it: a thing, or else the question in quotes. */
export function formatTopic(question: string): string {
  return ASKS_FOR_THING.test(question.trim())
    ? oneLine(extractTopic(question), MAX_SHOWN)
    : `"${oneLine(question, MAX_SHOWN)}"`;
}

/** The topic of a question: "Isaac Sim" for "What is Isaac Sim?". */
export function extractTopic(question: string): string {
  const trimmed = question.trim().replace(/\s+/g, ' ');
  let topic = trimmed;
  for (;;) {
    const shorter = topic.replace(INTRODUCTION, '').replace(TRAILING, '').trim();
    if (shorter === topic || shorter === '') break;
    topic = shorter;
  }
  return topic.replace(TRAILING, '') || trimmed;
}
