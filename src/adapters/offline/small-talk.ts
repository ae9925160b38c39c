import { queryTerms } from '../../text/terms.ts';
import type { Exchange } from './read-request.ts';

const GREETING =
  /^(?:hi|hello|hey|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|welcome)(?: (?:there|all|again|everyone|friend|citeloop))*$/;
const HOW_ARE_YOU =
  /^(?:(?:hi|hello|hey)\W+)?(?:how are you(?: (?:doing|today))*|how is it going|what is up|whats up)$/;
const THANKS =
  /^(?:(?:ok|okay|great|perfect|cool|nice|awesome)\W+)?(?:thanks|thank you|thx|ty|cheers|much appreciated|many thanks)(?: (?:a lot|so much|very much|again|for (?:that|the|your|this).*|that (?:helps|helped|is helpful|was helpful).*))*$/;
const ACKNOWLEDGEMENT =
  /^(?:ok|okay|k|great|cool|nice|perfect|awesome|excellent|good|got it|i see|understood|makes sense|sounds good|alright|all right|never mind|nevermind|no|yes|yep|yeah|sure|interesting|wow|lol|haha)(?: (?:then|now|ok|thanks|that is (?:good|great|helpful)))*$/;
const FAREWELL =
  /^(?:bye|goodbye|good bye|good night|see you(?: (?:later|soon))?|farewell|take care|that is all(?: for now| thanks)*|i am done)(?: .*)?$/;
const ABOUT_YOU =
  /^(?:who|what) are you(?: exactly)?$|^what (?:can|do) you do$|^(?:how|what) can you help(?: me)?(?: with)?$|^what (?:is|are) your (?:name|capabilities|limits)$|^are you (?:a |an )?(?:bot|human|robot|ai|real|model|person|chatgpt|language model)\b.*$|^help$|^how do you work$/;
const LAST_QUESTION =
  /\b(?:what (?:did i (?:just )?(?:ask|say)|was my (?:last|previous) (?:question|message))|(?:repeat|remind me of) my (?:last |previous )?question)\b/;
const FIRST_QUESTION = /\bwhat (?:was my first (?:question|message)|did i (?:ask|say) (?:you )?first)\b/;
const LAST_ANSWER =
  /\b(?:what (?:did you (?:just )?(?:say|answer)|was your (?:last|previous) answer)|(?:can|could) you repeat (?:that|your (?:last )?answer)|^(?:please )?repeat (?:that|your (?:last )?answer)|say that again)\b/;
const SUMMARY =
  /\b(?:summari[sz]e|recap|sum up) (?:our|this|the) (?:conversation|chat|discussion|session)\b|\bwhat (?:have|did) we (?:talked?|discussed?|covered?|talk|discuss|cover)(?: about)?(?: so far)?\b/;
const HOW_MANY = /\bhow many (?:questions|things) (?:have|did) i (?:asked|ask)\b/;

/** What people say to be friendly. */
const FRIENDLY = new Set(
  queryTerms(
    `hello hi hey hiya morning afternoon evening goodnight nice lovely pleasure meet thank thanks thx cheers
    appreciate grateful helpful great awesome perfect cool super wonderful excellent brilliant amazing fantastic
    sense understood sorry apologies apologize mistake oops haha hehe lol funny welcome bye goodbye wow luck`,
  ),
);
/** What may stand beside it; a message of nothing else than both asks nothing. */
const BESIDE_FRIENDLY = new Set(
  queryTerms(
    `good day night help helped useful really makes understand clear got wrong window typo pressed hit enter typed
    accident joke one see later tomorrow soon take care today tonight done well fine okay ok yes yep yeah no nope
    sure right alright love job work answer explanation ah oh aha hmm friend buddy everyone hope weekend enjoy`,
  ),
);
const MAX_SOCIAL_WORDS = 12;
const ASKS =
  /\?\s*$|^(?:what|which|who|where|when|why|how|is|are|do|does|did|can|could|will|would|should)\b/i;

function isSocial(question: string): boolean {
  const pieces = question.split(/(?<=[.!?,;])\s+/).filter((piece) => !HOW_ARE_YOU.test(normalized(piece)));
  const terms = queryTerms(pieces.join(' '));
  return (
    question.split(/\s+/).length <= MAX_SOCIAL_WORDS &&
    !pieces.some((piece) => ASKS.test(piece)) &&
    terms.some((term) => FRIENDLY.has(term)) &&
    terms.every((term) => FRIENDLY.has(term) || BESIDE_FRIENDLY.has(term))
  );
}

/** The answer to what needs no documents: greetings, thanks, and questions about the conversation itself. */
export function smallTalk(question: string, history: readonly Exchange[]): string | null {
  const said = normalized(question);
  if (said.split(' ').length > 16) return null;
  if (GREETING.test(said)) return 'Hello! Ask me anything that your documents may cover.';
  if (HOW_ARE_YOU.test(said)) return 'All is well here. What would you like to know from your documents?';
  if (THANKS.test(said)) return "You're welcome.";
  if (FAREWELL.test(said)) return 'Goodbye.';
  if (ABOUT_YOU.test(said)) {
    return (
      'I am the offline model of citeloop: I search your documents and answer with sentences taken from them word ' +
      'for word, each with its source. I write nothing of my own; a generative model can be chosen instead.'
    );
  }
  if (ACKNOWLEDGEMENT.test(said)) return 'Good. Is there anything else you would like to know?';
  const about = aboutTheConversation(said, history);
  if (about !== null || !isSocial(question)) return about;
  return /\b(?:thank|appreciate|helpful)/i.test(question)
    ? "You're welcome."
    : 'I am here to look things up in your documents. What would you like to know?';
}

function aboutTheConversation(said: string, history: readonly Exchange[]): string | null {
  const last = history.at(-1);
  const first = history[0];
  const isAbout = [LAST_QUESTION, FIRST_QUESTION, LAST_ANSWER, SUMMARY, HOW_MANY].some((pattern) =>
    pattern.test(said),
  );
  if (!isAbout) return null;
  if (last === undefined || first === undefined) return 'This is the beginning of our conversation.';
  if (FIRST_QUESTION.test(said)) return `The earliest question I still have is: "${first.question}"`;
  if (LAST_QUESTION.test(said)) return `Your last question was: "${last.question}"`;
  if (LAST_ANSWER.test(said))
    return last.answer === null ? 'I have not answered yet.' : `I said: ${withoutMarkers(last.answer)}`;
  if (HOW_MANY.test(said))
    return `You have asked ${history.length} question${history.length === 1 ? '' : 's'} so far.`;
  return `So far you have asked:\n${history.map(({ question }, index) => `${index + 1}. ${question}`).join('\n')}`;
}

/** Markers belong to the answer they were checked in. */
function withoutMarkers(answer: string): string {
  return answer.replace(/ ?\[\d+\]/g, '');
}

function normalized(question: string): string {
  return question
    .toLowerCase()
    .replace(/[’']s\b/g, ' is')
    .replace(/[’']m\b/g, ' am')
    .replace(/[^\p{L}\p{N}\s]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
