import { useEffect, useRef, useState } from 'preact/hooks';
import { type AskEvent, api, type Question, sentenceOf } from './api.ts';
import { afterEvent, failed, newTurn, storedTurn, type TurnState } from './turn-state.ts';

interface Conversation {
  /** Null until its first turn is kept: the server forgets a session that has none. */
  sessionId: string | null;
  /** Null until something was asked: then it stays. */
  collection: string | null;
  turns: TurnState[];
  /** Before which turns it was reset: the model knows nothing of what came earlier. */
  resets: number[];
}

/** Numbered, for two conversations not to share what is drawn. */
interface ShownConversation extends Conversation {
  serial: number;
}

const EMPTY: Conversation = { sessionId: null, collection: null, turns: [], resets: [] };

interface ConversationListeners {
  /** A turn was committed. */
  onKept: () => void;
  /** Another conversation is called for by the address. */
  onAddress: (sessionId: string) => void;
}

/** The conversation on the page, and what can be done with it. */
export function useConversation({ onKept, onAddress }: ConversationListeners) {
  const [conversation, setConversation] = useState<ShownConversation>({ ...EMPTY, serial: 0 });
  const running = useRef<AbortController | null>(null);
  // What was asked for last wins: an answer of a conversation that was left must not turn up in another.
  const shown = useRef(0);
  const addressed = useRef('');

  useEffect(() => {
    const onHash = () => {
      const wanted = location.hash.slice(1);
      if (wanted !== addressed.current) onAddress(wanted);
    };
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);

  function address(sessionId: string | null): void {
    addressed.current = sessionId ?? '';
    if (location.hash.slice(1) !== addressed.current) location.hash = addressed.current;
  }

  function changeLast(change: (turn: TurnState) => TurnState): void {
    setConversation((current) => ({
      ...current,
      turns: current.turns.map((turn, index) => (index === current.turns.length - 1 ? change(turn) : turn)),
    }));
  }

  function stop(): void {
    running.current?.abort();
  }

  async function open(load: () => Promise<Conversation>): Promise<void> {
    stop();
    shown.current += 1;
    const mine = shown.current;
    const loaded = await load();
    if (shown.current !== mine) return;
    setConversation({ ...loaded, serial: mine });
    address(loaded.sessionId);
  }

  function receive(events: readonly AskEvent[]): void {
    changeLast((turn) => events.reduce(afterEvent, turn));
    const begun = events.find((event) => event.type === 'session');
    if (begun !== undefined) setConversation((current) => ({ ...current, collection: begun.collection }));
    const completed = events.find((event) => event.type === 'turn_completed');
    if (completed === undefined) return;
    const { sessionId } = completed.turn.response;
    setConversation((current) => ({ ...current, sessionId }));
    address(sessionId);
    onKept();
  }

  /** What is not chosen is as the server has it. */
  async function ask(question: string, choice: Pick<Question, 'policy' | 'collection'>): Promise<void> {
    const controller = new AbortController();
    running.current = controller;
    const mine = shown.current;
    const { sessionId } = conversation;
    setConversation((current) => ({ ...current, turns: [...current.turns, newTurn(question)] }));
    try {
      const { policy, collection } = choice;
      const place = sessionId === null ? { collection } : { sessionId };
      const request = { question, policy, ...place };
      for await (const events of inBatches(api.ask(request, controller.signal))) {
        if (shown.current === mine) receive(events);
      }
      if (shown.current === mine) changeLast(endedEarly);
    } catch (error) {
      if (shown.current !== mine) return;
      if (controller.signal.aborted) changeLast(stopped);
      else changeLast((turn) => failed(turn, sentenceOf(error)));
    } finally {
      if (running.current === controller) running.current = null;
    }
  }

  return {
    conversation,
    isRunning: conversation.turns.at(-1)?.status === 'running',
    ask,
    stop,
    startNew: () => open(async () => EMPTY),
    resume: (sessionId: string) => open(() => storedConversation(sessionId)),
    async reset() {
      const { sessionId } = conversation;
      if (sessionId === null) return;
      await open(async () => {
        await api.reset(sessionId);
        return storedConversation(sessionId);
      });
    },
    async judge(index: number, verdict: 'good' | 'bad') {
      const turn = conversation.turns[index]?.turn;
      if (turn == null) return;
      await api.judge(turn.response.sessionId, turn.response.turnNumber, verdict);
      setConversation((current) => ({
        ...current,
        turns: current.turns.map((each, at) => (at === index ? { ...each, feedback: verdict } : each)),
      }));
    },
  };
}

async function storedConversation(sessionId: string): Promise<Conversation> {
  const { session, turns } = await api.session(sessionId);
  let before = 0;
  const resets = session.segments.map(({ turnCount }) => {
    before += turnCount;
    return before;
  });
  return { sessionId, collection: session.collection, turns: turns.map(storedTurn), resets };
}

/** A stream that ends without a last event was cut off. */
function endedEarly(turn: TurnState): TurnState {
  return turn.status === 'running' ? failed(turn, 'The connection ended before the answer did.') : turn;
}

/** What was completed stays so. */
function stopped(turn: TurnState): TurnState {
  return turn.status === 'running' ? { ...turn, status: 'stopped', activity: '' } : turn;
}

/** Time for the page to be drawn and for a person to type. */
const PAUSE_MS = 40;

/**
 * What comes in within a moment, together: an answer arrives word by word, and to draw a long one for every word
 * would take longer than the word. The first of it is never held back.
 */
export async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let ended = false;
  let failure: { error: unknown } | null = null;
  let arrived = Promise.withResolvers<void>();
  const reading = (async () => {
    try {
      for await (const item of items) {
        batch.push(item);
        arrived.resolve();
      }
    } catch (error) {
      failure = { error };
    } finally {
      ended = true;
      arrived.resolve();
    }
  })();
  while (true) {
    await arrived.promise;
    arrived = Promise.withResolvers();
    if (ended) arrived.resolve();
    const taken = batch;
    batch = [];
    if (taken.length > 0) yield taken;
    else if (ended) break;
    if (!ended) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await reading;
  if (failure !== null) throw (failure as { error: unknown }).error;
}
