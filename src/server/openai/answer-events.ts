import { READ_SOURCE } from '../../agent/agent.ts';
import { endedEarly } from '../../agent/complete-turn.ts';
import { looksLikeIndex } from '../../citations/find-markers.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import type { WaitingEvent } from '../turns/turn-runner.ts';
import type { Answer, AnswerEvent } from './answer.ts';

/** What a model says before it searches is short; from here on, it is taken for the answer. */
const LONGEST_PREAMBLE = 400;
/** Passages that one reading around a hit may add. */
const READ_AROUND = 5;

/**
 * A turn as an answer in the making. Text goes out as it comes once something was retrieved; before that it may
 * be what a model says before it searches, which is no part of the answer, so it is held back. Throws an AppError
 * when the turn comes to nothing.
 */
export async function* answerEvents(
  events: AsyncIterable<RunEvent | WaitingEvent>,
): AsyncGenerator<AnswerEvent> {
  const chunks = new Set<string>();
  let readAround = 0;
  let retrieved = false;
  let preamble = '';
  let sent = false;
  const filter = createMarkerFilter((ref) => ref >= 1 && ref <= chunks.size + readAround);

  for await (const event of events) {
    if (event.type === 'retrieval_finished') {
      retrieved = true;
      for (const { chunkId } of event.context?.chunks ?? []) chunks.add(chunkId);
    }
    if (event.type === 'tool_call') {
      if (event.call.name === READ_SOURCE) readAround += READ_AROUND;
      preamble = '';
      if (sent) yield { type: 'delta', text: `${filter.end()}\n\n` };
    }
    if (event.type === 'text_delta') {
      preamble += event.delta;
      if (!retrieved && !sent && preamble.length <= LONGEST_PREAMBLE) continue;
      const text = filter.push(preamble);
      preamble = '';
      if (text !== '') yield { type: 'delta', text: sent ? text : text.trimStart() };
      sent ||= text.trim() !== '';
    }
    if (event.type === 'turn_completed') {
      const rest = sent ? filter.end() : '';
      if (rest !== '') yield { type: 'delta', text: rest };
      yield { type: 'done', answer: toAnswer(event.turn) };
      return;
    }
    if (event.type === 'error') throw fromErrorResponse(event.error);
  }
  endedEarly();
}

/** The answer of a turn alone. */
export async function wholeAnswer(events: AsyncIterable<RunEvent | WaitingEvent>): Promise<Answer> {
  for await (const event of answerEvents(events)) if (event.type === 'done') return event.answer;
  return endedEarly();
}

function toAnswer({ response, decisions }: ConversationTurn): Answer {
  const { answer, citations, sentences, checkedBy, tokensUsed, outcome, grounded, confidence, finishReason } =
    response;
  const searches = decisions.flatMap((decision) =>
    decision.searched
      ? [{ query: decision.query, found: decision.chunks.length, cited: decision.cited.length }]
      : [],
  );
  return {
    text: answer,
    calls: [],
    usage: tokensUsed,
    citeloop: {
      outcome,
      grounded,
      confidence,
      finishReason,
      model: response.model,
      citations,
      sentences,
      checkedBy,
      searches,
    },
  };
}

/** Lets text through as it comes, except for markers of sources that there are not. */
interface MarkerFilter {
  /** What can be passed on now. */
  push(text: string): string;
  /** What was still held back. */
  end(): string;
}

/** A bracket that stays open for longer is no marker. */
const LONGEST_MARKER = 40;
const REFS = /^\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*$/;

export function createMarkerFilter(isKnown: (ref: number) => boolean): MarkerFilter {
  let passed = '';
  let held = '';

  function pass(length: number): string {
    const text = held.slice(0, length);
    held = held.slice(length);
    passed += text;
    return text;
  }

  function isUnknown(open: number, close: number): boolean {
    const content = held.slice(open + 1, close);
    if (!REFS.test(content)) return false;
    const before = passed + held.slice(0, open);
    if (inCode(before) || looksLikeIndex(before, before.length)) return false;
    return content.split(',').every((ref) => !isKnown(Number(ref)));
  }

  return {
    push(text) {
      held += text;
      let out = '';
      for (;;) {
        const open = held.indexOf('[');
        if (open < 0) return out + pass(held.length);
        out += pass(open);
        const close = held.indexOf(']');
        if (close < 0) return held.length > LONGEST_MARKER ? out + pass(held.length) : out;
        if (isUnknown(0, close)) held = held.slice(close + 1);
        else out += pass(close + 1);
      }
    },
    end: () => pass(held.length),
  };
}

/** Within backticks, as far as they have been opened and not yet closed. */
function inCode(before: string): boolean {
  return (before.match(/`+/g)?.length ?? 0) % 2 === 1;
}
