import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type ConversationSession,
  completeSession,
  resetSession,
} from '../../src/domain/conversation-session.ts';
import { AppError } from '../../src/faults/app-error.ts';
import type { RecordedTurn, SessionStore } from '../../src/ports/session-store.ts';
import { NOW, type SampleTurn, sampleSession, sampleTurn } from './sample-sessions.ts';

/** The contract of every SessionStore. `open` returns handles on one store that is empty at first, and cleans up. */
export function describeSessionStore(name: string, place: () => Promise<{ open: () => SessionStore }>): void {
  describe(name, () => {
    async function openStore(): Promise<SessionStore> {
      return (await place()).open();
    }

    test('an empty store returns nothing', async () => {
      const store = await openStore();
      const unknown = randomUUID();
      expect(await store.list()).toEqual([]);
      expect(await store.load(unknown)).toBeNull();
      expect(await store.load('last')).toBeNull();
      expect(await store.lastTurn(unknown)).toBeNull();
      expect(await turnsOf(store, unknown)).toEqual([]);
      expect(await store.delete(unknown)).toBe(false);
    });

    test('loads a new session as it was created', async () => {
      const store = await openStore();
      const session = sampleSession({ policy: 'first', model: 'm', collection: 'c', isInteractive: true });
      await store.create(session, 'anna');
      expect(await store.load(session.sessionId)).toEqual({ session, user: 'anna' });
      expect(await store.lastTurn(session.sessionId)).toBeNull();
      const nameless = sampleSession();
      await store.create(nameless, null);
      expect(await store.load(nameless.sessionId)).toEqual({ session: nameless, user: null });
    });

    test('stores initial messages and refuses a taken id', async () => {
      const store = await openStore();
      const { session } = sampleTurn(sampleSession());
      await store.create(session, null);
      expect((await store.load(session.sessionId))?.session).toEqual(session);
      await expectRefused(store.create(sampleSession({ sessionId: session.sessionId }), 'other'));
      expect((await store.load(session.sessionId))?.session).toEqual(session);
    });

    test('creates a session with its first turn', async () => {
      const store = await openStore();
      const session = sampleSession();
      const first = sampleTurn(session);
      await store.commitTurn(first.session, first.messages, first.turn, { session, user: 'anna' });
      expect(await store.load(session.sessionId)).toEqual({ session: first.session, user: 'anna' });
      expect(await turnsOf(store, session.sessionId)).toEqual([{ turn: first.turn }]);
      const again = sampleTurn(session);
      await expectRefused(
        store.commitTurn(again.session, again.messages, again.turn, { session, user: 'other' }),
      );
      expect(await store.load(session.sessionId)).toEqual({ session: first.session, user: 'anna' });
      const second = sampleTurn(first.session);
      await store.commitTurn(second.session, second.messages, second.turn);
      expect((await store.list()).map(({ turnCount }) => turnCount)).toEqual([2]);
    });

    test('keeps turns in order with their messages and counters', async () => {
      const store = await openStore();
      const start = sampleSession();
      await store.create(start, null);
      let session = start;
      const recorded: RecordedTurn[] = [];
      for (let number = 1; number <= 45; number += 1) {
        const next = sampleTurn(session);
        await store.commitTurn(next.session, next.messages, next.turn);
        recorded.push({ turn: next.turn });
        session = next.session;
        if (number % 15 === 0) expect((await store.load(session.sessionId))?.session).toEqual(session);
      }
      expect(await turnsOf(store, session.sessionId)).toEqual(recorded);
      expect(await store.lastTurn(session.sessionId)).toEqual(recorded.at(-1));
      expect((await store.load(session.sessionId))?.session).toMatchObject({
        status: 'active',
        turnCount: 45,
        retrievalCount: 45,
        totalTokensUsed: 45 * 30,
      });
    });

    test('a reset starts from the system message and keeps earlier turns and totals', async () => {
      const store = await openStore();
      let session = await started(store, { turns: 3 });
      for (const closedAt of [NOW, '2026-11-17T07:00:00.000Z']) {
        session = resetSession(session, closedAt);
        await store.update(session);
        expect((await store.load(session.sessionId))?.session).toEqual(session);
        expect(session.messages).toHaveLength(1);
        session = await goOn(store, session);
        expect((await store.load(session.sessionId))?.session).toEqual(session);
      }
      const numbers = (await turnsOf(store, session.sessionId)).map(({ turn }) => turn.response.turnNumber);
      expect(numbers).toEqual([1, 2, 3, 4, 5]);
      expect(session).toMatchObject({ turnCount: 1, segments: [{ turnCount: 3 }, { turnCount: 1 }] });
      expect(await store.list()).toMatchObject([
        { turnCount: 5, retrievalCount: 5, totalTokensUsed: 150, title: 'Question 1?' },
      ]);
    });

    test('updates a session without a turn', async () => {
      const store = await openStore();
      const session = await started(store, { turns: 2 });
      const [system, ...rest] = session.messages;
      const changed: ConversationSession = {
        ...completeSession(session),
        model: 'other',
        policy: 'always',
        collection: 'elsewhere',
        messages: [{ ...system, content: 'Be brief.' } as typeof system & object, ...rest],
      };
      await store.update(changed);
      expect((await store.load(session.sessionId))?.session).toEqual(changed);
      expect(await store.list()).toMatchObject([
        { model: 'other', policy: 'always', collection: 'elsewhere' },
      ]);
      expect(await turnsOf(store, session.sessionId)).toHaveLength(2);
    });

    test('lists sessions by last change, by user and up to a limit', async () => {
      const store = await openStore();
      const before = new Date().toISOString();
      const first = await started(store, { user: 'anna', question: 'What is a node?' });
      const second = await started(store, { user: 'bert', turns: 0 });
      const third = await started(store, { user: null });
      const ids = async (options?: Parameters<SessionStore['list']>[0]) =>
        (await store.list(options)).map(({ sessionId }) => sessionId);
      expect(await ids()).toEqual([third, second, first].map(({ sessionId }) => sessionId));
      await goOn(store, first);
      expect(await ids()).toEqual([first, third, second].map(({ sessionId }) => sessionId));
      expect(await ids({ limit: 2 })).toEqual([first, third].map(({ sessionId }) => sessionId));
      expect(await ids({ user: 'anna' })).toEqual([first.sessionId]);
      expect(await ids({ user: 'bert', limit: 5 })).toEqual([second.sessionId]);
      expect(await ids({ user: 'nobody' })).toEqual([]);
      const [summary] = await store.list({ user: 'anna' });
      expect(summary).toEqual({
        sessionId: first.sessionId,
        user: 'anna',
        title: 'What is a node?',
        status: 'active',
        isInteractive: false,
        model: 'offline',
        policy: 'tool',
        collection: 'web_documents',
        createdAt: NOW,
        updatedAt: expect.any(String),
        turnCount: 2,
        retrievalCount: 2,
        totalTokensUsed: 60,
      });
      expect((summary?.updatedAt ?? '') >= before).toBe(true);
      expect((await store.list({ user: 'bert' }))[0]?.title).toBeNull();
    });

    test('the title is the first question on one line of bounded length', async () => {
      const store = await openStore();
      await started(store, { question: `  a\n\tlong ${'question '.repeat(1000)}` });
      const [summary] = await store.list();
      expect(summary?.title).toMatch(/^a long question .*…$/);
      expect(summary?.title?.length).toBeLessThanOrEqual(200);
    });

    test('deletes a session with everything that belongs to it and no other', async () => {
      const store = await openStore();
      const session = await started(store, { turns: 2 });
      const other = await started(store, { turns: 2 });
      expect(await store.delete(session.sessionId)).toBe(true);
      expect(await store.delete(session.sessionId)).toBe(false);
      expect(await store.load(session.sessionId)).toBeNull();
      expect(await turnsOf(store, session.sessionId)).toEqual([]);
      expect((await store.load(other.sessionId))?.session).toEqual(other);
      expect(await turnsOf(store, other.sessionId)).toHaveLength(2);
      const again = sampleSession({ sessionId: session.sessionId });
      await store.create(again, null);
      expect((await store.load(session.sessionId))?.session).toEqual(again);
      expect(await store.lastTurn(session.sessionId)).toBeNull();
    });

    test('refuses to continue a missing session', async () => {
      const store = await openStore();
      const { session, messages, turn } = sampleTurn(sampleSession());
      await expectRefused(store.commitTurn(session, messages, turn));
      await expectRefused(store.update(session));
      expect(await store.list()).toEqual([]);
    });

    test('keeps every character', async () => {
      const store = await openStore();
      const text =
        'Straße, δρόμος, 机器人, הרחוב, \u{1f469}‍\u{1f52c}, e\u0301, \0, \u2028, a lone \ud83d half, \'quotes\' "too" \\';
      const session = sampleSession({ model: '模型/β' });
      await store.create(session, 'Zoë \u{1f600}');
      const next = sampleTurn(session, { question: text, answer: text });
      await store.commitTurn(next.session, next.messages, next.turn);
      expect(await store.load(session.sessionId)).toEqual({ session: next.session, user: 'Zoë \u{1f600}' });
      expect((await store.lastTurn(session.sessionId))?.turn).toEqual(next.turn);
      expect(await store.list({ user: 'Zoë \u{1f600}' })).toMatchObject([{ model: '模型/β' }]);
    });

    test('is not affected by changes to objects it was given or returned', async () => {
      const store = await openStore();
      const session = await started(store, { turns: 1 });
      const loaded = await store.load(session.sessionId);
      const before = structuredClone(loaded);
      loaded?.session.messages.pop();
      const last = await store.lastTurn(session.sessionId);
      if (last !== null) last.turn.response.answer = 'changed';
      session.messages.push(...session.messages);
      expect(await store.load(session.sessionId)).toEqual(before);
      expect((await store.lastTurn(session.sessionId))?.turn.response.answer).toBe('Answer 1.');
    });

    test('a handle sees the changes of another', async () => {
      const { open } = await place();
      const [one, two] = [open(), open()];
      expect(await two.list()).toEqual([]);
      const session = await started(one, { turns: 1, user: 'anna' });
      expect(await two.load(session.sessionId)).toEqual({ session, user: 'anna' });
      const after = await goOn(two, session);
      expect((await one.load(session.sessionId))?.session).toEqual(after);
      await two.delete(session.sessionId);
      expect(await one.load(session.sessionId)).toBeNull();
    });

    test('does not overwrite a session that was continued elsewhere', async () => {
      const { open } = await place();
      const [one, two] = [open(), open()];
      const session = await started(one, { turns: 1 });
      const after = await goOn(two, session);
      const late = sampleTurn(session, { question: 'Too late?' });
      await expectRefused(one.commitTurn(late.session, late.messages, late.turn));
      await expectRefused(one.update({ ...session, policy: 'never' }));
      const reset = resetSession(after, NOW);
      await two.update(reset);
      const unaware = sampleTurn(after);
      await expectRefused(one.commitTurn(unaware.session, unaware.messages, unaware.turn));
      expect((await one.load(session.sessionId))?.session).toEqual(reset);
      expect(await turnsOf(one, session.sessionId)).toHaveLength(2);
    });

    test('adds turns and deletes sessions while others are read', async () => {
      const store = await openStore();
      let session = await started(store, { turns: 25 });
      let read = 0;
      for await (const _ of store.turns(session.sessionId)) {
        read += 1;
        if (read === 10) session = await goOn(store, session);
      }
      expect(read).toBeGreaterThanOrEqual(25);
      for await (const _ of store.turns(session.sessionId)) await store.delete(session.sessionId);
      expect(await store.list()).toEqual([]);
    });

    test('can be closed more than once', async () => {
      const store = await openStore();
      await started(store, {});
      await store.close();
      await store.close();
    });
  });
}

interface Start extends SampleTurn {
  user?: string | null;
  turns?: number;
}

async function started(
  store: SessionStore,
  { user = null, turns = 1, ...sample }: Start,
): Promise<ConversationSession> {
  let session = sampleSession();
  await store.create(session, user);
  for (let number = 0; number < turns; number += 1) session = await goOn(store, session, sample);
  return session;
}

async function goOn(
  store: SessionStore,
  session: ConversationSession,
  sample: SampleTurn = {},
): Promise<ConversationSession> {
  const next = sampleTurn(session, sample);
  await store.commitTurn(next.session, next.messages, next.turn);
  return next.session;
}

function turnsOf(store: SessionStore, sessionId: string): Promise<RecordedTurn[]> {
  return Array.fromAsync(store.turns(sessionId));
}

async function expectRefused(attempt: Promise<unknown>): Promise<void> {
  const refusal = await attempt.catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(AppError);
  expect(refusal).toMatchObject({ kind: 'invalid_input', hint: expect.any(String) });
}
