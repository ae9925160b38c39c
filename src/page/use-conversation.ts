import { useRef, useState } from 'preact/hooks';
import type { Policy } from '../domain/agent-config.ts';
import { type AskEvent, api, RefusedError } from './api.ts';
import { afterEvent, askedTurn, failed, keptTurn, type TurnState } from './turn-state.ts';

export interface Conversation {
  sessionId: string | null;
  /** Fixed once there is a session. */
  collection: string | null;
  turns: TurnState[];
}

const EMPTY: Conversation = { sessionId: null, collection: null, turns: [] };

/** The conversation on the page, and what can be done with it. `onKept` hears of every turn that was committed. */
export function useConversation(onKept: () => void) {
  const [conversation, setConversation] = useState<Conversation>(EMPTY);
  const running = useRef<AbortController | null>(null);
  // What was asked for last wins: an answer of a conversation that was left must not turn up in another.
  const shown = useRef(0);

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
    setConversation(loaded);
    location.hash = loaded.sessionId ?? '';
  }

  function receive(event: AskEvent): void {
    if (event.type === 'session') {
      const { sessionId, collection } = event;
      setConversation((current) => ({ ...current, sessionId, collection }));
      location.hash = sessionId;
    } else {
      changeLast((turn) => afterEvent(turn, event));
    }
    if (event.type === 'turn_completed') onKept();
  }

  async function ask(question: string, policy: Policy, collection: string): Promise<void> {
    const controller = new AbortController();
    running.current = controller;
    const mine = shown.current;
    const { sessionId } = conversation;
    setConversation((current) => ({ ...current, turns: [...current.turns, askedTurn(question)] }));
    try {
      const request = { question, policy, ...(sessionId === null ? { collection } : { sessionId }) };
      for await (const event of api.ask(request, controller.signal)) {
        if (shown.current === mine) receive(event);
      }
      if (shown.current === mine) changeLast(endedEarly);
    } catch (error) {
      if (shown.current !== mine) return;
      if (controller.signal.aborted) changeLast((turn) => ({ ...turn, status: 'stopped', activity: '' }));
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
    resume: (sessionId: string) =>
      open(async () => {
        const { session, turns } = await api.session(sessionId);
        return { sessionId, collection: session.collection, turns: turns.map(keptTurn) };
      }),
    async reset() {
      const { sessionId, collection } = conversation;
      if (sessionId === null) return;
      await open(async () => {
        await api.reset(sessionId);
        return { sessionId, collection, turns: [] };
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

/** A stream that ends without a last event was cut off. */
function endedEarly(turn: TurnState): TurnState {
  return turn.status === 'running' ? failed(turn, 'The connection ended before the answer did.') : turn;
}

function sentenceOf(error: unknown): string {
  if (error instanceof RefusedError) return error.message;
  return 'The server cannot be reached. Is citeloop serve still running?';
}
