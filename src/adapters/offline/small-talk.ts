import { indexTerms, queryTerms } from '../../text/terms.ts';
import type { PastExchange } from './parse-model-request.ts';

/** A message of these words and stop words only is a greeting, thanks, a reaction or a goodbye. */
const SOCIAL_TERMS = new Set(
  indexTerms(
    `hello hi hey morning afternoon evening day night nice lovely pleasure meet thank thanks thx cheers appreciate lot
    helpful helped help great awesome perfect cool super wonderful excellent brilliant amazing sense makes understood
    clear got sorry mistake oops pressed enter typed accident typo wrong window haha lol funny one joke welcome bye
    goodbye see later tomorrow soon today tonight take care wow good well fine okay ok yes yeah no sure right alright
    interesting really job work friend everyone`,
  ),
);
const MAX_SOCIAL_WORDS = 12;
const HOW_ARE_YOU = /\bhow (?:are you|is it going)(?: (?:doing|today|going))*/;
const ASKS =
  /\?\s*$|^(?:what|which|who|where|when|why|how|is|are|do|does|did|can|could|will|would|should)\b/i;

const ABOUT_AGENT =
  /^(?:who|what) are you$|^what (?:can|do) you do$|^(?:how|what) can you help\b|^are you (?:an? )?(?:bot|human|ai|real|model|person)\b|^help$/;
const LAST_ANSWER =
  /\bwhat did you (?:just )?(?:say|answer)\b|\brepeat (?:that|your (?:last )?answer)\b|\bsay that again\b/;
const EARLIER_QUESTIONS =
  /\bwhat (?:did i (?:just )?(?:ask|say)|was my (?:last|first|previous) question|(?:have|did) we (?:talk|discuss|cover))|\bhow many questions (?:have|did) i\b|\b(?:summari[sz]e|recap) (?:our|this|the) (?:conversation|chat)\b/;

/** Replies to a message that needs no documents, or returns null if it does. */
export function replyToSmallTalk(message: string, history: readonly PastExchange[]): string | null {
  const text = message
    .toLowerCase()
    .replace(/[’']s\b/g, ' is')
    .replace(/[^\p{L}\p{N}\s]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (text.split(' ').length > MAX_SOCIAL_WORDS) return null;
  if (ABOUT_AGENT.test(text)) {
    return (
      'I am the offline model of citeloop. I search your documents and answer with sentences from them, each with its ' +
      'source. For answers in other words, choose a generative model.'
    );
  }
  const last = history.at(-1);
  if (last !== undefined && LAST_ANSWER.test(text))
    return `I said: ${(last.answer ?? '').replace(/ ?\[\d+\]/g, '')}`;
  if (last !== undefined && EARLIER_QUESTIONS.test(text))
    return `You asked:\n${history.map(({ question }, index) => `${index + 1}. ${question}`).join('\n')}`;
  return isSocial(message, text) ? replyToSocial(text) : null;
}

function isSocial(message: string, text: string): boolean {
  const rest = text.replace(HOW_ARE_YOU, '').trim();
  if (rest !== text) return queryTerms(rest).every((term) => SOCIAL_TERMS.has(term));
  return !ASKS.test(message) && queryTerms(message).every((term) => SOCIAL_TERMS.has(term));
}

function replyToSocial(text: string): string {
  if (/\b(?:thank|thanks|thx|cheers|appreciate|helpful)\b/.test(text)) return "You're welcome.";
  if (/\b(?:bye|goodbye|see you)\b/.test(text)) return 'Goodbye.';
  return 'Hello. Ask me anything about your documents.';
}
