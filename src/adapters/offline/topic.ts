import { oneLine } from '../../domain/visible-text.ts';

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
