import { useEffect, useRef, useState } from 'preact/hooks';
import { type AskEvent, type AskRequest, chatApi, describeRequestError } from './chat-api.ts';
import { applyAskEvent, type ChatTurn, createChatTurn, restoreChatTurn, toFailedTurn } from './chat-turn.ts';

interface Conversation {
  /** Null until the first turn is stored. */
  sessionId: string | null;
  /** Null until the first question, which fixes it. */
  collection: string | null;
  turns: ChatTurn[];
  /** The numbers of turns before each reset: the model does not see earlier turns. */
  resets: number[];
}

interface NumberedConversation extends Conversation {
  /** Part of the keys of rendered turns, so that conversations share no elements. */
  serial: number;
}

const EMPTY: Conversation = { sessionId: null, collection: null, turns: [], resets: [] };

interface ConversationListeners {
  onTurnStored: () => void;
  /** The user navigated to another URL hash; empty for a new conversation. */
  onNavigate: (sessionId: string) => void;
}

/** The state of the current conversation, which the URL hash names, and the actions on it. */
export function useConversation({ onTurnStored, onNavigate }: ConversationListeners) {
  const [conversation, setConversation] = useState<NumberedConversation>({ ...EMPTY, serial: 0 });
  const running = useRef<AbortController | null>(null);
  // Increases with each opened conversation: events of an earlier one are ignored.
  const serial = useRef(0);
  /** The serial of the last conversation that was requested; it is current when it is loaded. */
  const opened = useRef(0);
  const hash = useRef('');

  useEffect(() => {
    const onHashChange = () => {
      const sessionId = location.hash.slice(1);
      if (sessionId !== hash.current) onNavigate(sessionId);
    };
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);

  function setHash(sessionId: string | null): void {
    hash.current = sessionId ?? '';
    if (location.hash.slice(1) !== hash.current) location.hash = hash.current;
  }

  function changeLastTurn(change: (turn: ChatTurn) => ChatTurn): void {
    setConversation((current) => ({
      ...current,
      turns: current.turns.map((turn, index) => (index === current.turns.length - 1 ? change(turn) : turn)),
    }));
  }

  /** For a stream that ends without a final event. */
  function endRunningTurn(end: (turn: ChatTurn) => ChatTurn): void {
    changeLastTurn((turn) => (turn.status === 'running' ? end(turn) : turn));
  }

  function stop(): void {
    running.current?.abort();
  }

  async function open(load: () => Promise<Conversation>): Promise<void> {
    opened.current += 1;
    const mine = opened.current;
    const loaded = await load();
    if (opened.current !== mine) return;
    stop();
    serial.current = mine;
    setConversation({ ...loaded, serial: mine });
    setHash(loaded.sessionId);
  }

  function receive(events: readonly AskEvent[]): void {
    changeLastTurn((turn) => events.reduce(applyAskEvent, turn));
    const started = events.find((event) => event.type === 'session');
    if (started !== undefined) setConversation((current) => ({ ...current, collection: started.collection }));
    const completed = events.find((event) => event.type === 'turn_completed');
    if (completed === undefined) return;
    const { sessionId } = completed.turn.response;
    setConversation((current) => ({ ...current, sessionId }));
    setHash(sessionId);
    onTurnStored();
  }

  /** Undefined options take the defaults of the server. */
  async function ask(
    question: string,
    { policy, collection }: Pick<AskRequest, 'policy' | 'collection'>,
  ): Promise<void> {
    const controller = new AbortController();
    running.current = controller;
    const mine = serial.current;
    const { sessionId, turns } = conversation;
    // A question that is asked again replaces its failed turn, which is not stored.
    const kept = turns.filter(({ turn, question: asked }) => turn !== null || asked !== question);
    setConversation((current) => ({ ...current, turns: [...kept, createChatTurn(question)] }));
    try {
      const target = sessionId === null ? { collection } : { sessionId };
      const stream = chatApi.ask({ question, policy, ...target }, controller.signal);
      await receiveInBatches(stream, (events) => {
        if (serial.current === mine) receive(events);
      });
      const cause = 'The connection closed before the answer ended.';
      if (serial.current === mine) endRunningTurn((turn) => toFailedTurn(turn, cause));
    } catch (error) {
      if (serial.current !== mine) return;
      if (controller.signal.aborted) endRunningTurn((turn) => ({ ...turn, status: 'stopped', activity: '' }));
      else changeLastTurn((turn) => toFailedTurn(turn, describeRequestError(error)));
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
    /** Keeps the current conversation if the session cannot be loaded, then throws. */
    resume: (sessionId: string) =>
      open(() => loadConversation(sessionId)).catch((error: unknown) => {
        location.hash = hash.current;
        throw error;
      }),
    async reset() {
      const { sessionId } = conversation;
      if (sessionId === null) return;
      await open(async () => {
        await chatApi.resetSession(sessionId);
        return loadConversation(sessionId);
      });
    },
  };
}

async function loadConversation(sessionId: string): Promise<Conversation> {
  const { session, turns } = await chatApi.session(sessionId);
  let before = 0;
  const resets = session.segments.map(({ turnCount }) => {
    before += turnCount;
    return before;
  });
  return {
    sessionId,
    collection: session.collection,
    turns: turns.map(({ turn }) => restoreChatTurn(turn)),
    resets,
  };
}

/** Leaves time to render and to handle input. */
const BATCH_PAUSE_MS = 40;

/**
 * Passes items on in batches: rendering a long answer for every word would take longer than the word. An error is
 * thrown after the items before it.
 */
export async function receiveInBatches<T>(
  items: AsyncIterable<T>,
  receive: (batch: readonly T[]) => void,
): Promise<void> {
  let batch: T[] = [];
  const flush = () => {
    const ready = batch;
    batch = [];
    if (ready.length > 0) receive(ready);
  };
  const timer = setInterval(flush, BATCH_PAUSE_MS);
  try {
    for await (const item of items) batch.push(item);
  } finally {
    clearInterval(timer);
    flush();
  }
}
