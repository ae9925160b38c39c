/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />
import { expect, test } from 'vitest';
import type { AskEvent } from '../../../src/web/chat/chat-api.ts';
import { applyAskEvent, createChatTurn } from '../../../src/web/chat/chat-turn.ts';

const applyAll = (...events: AskEvent[]) => events.reduce(applyAskEvent, createChatTurn('Why?'));
const search: AskEvent = { type: 'retrieval_started', retrievalId: 'a', query: 'why', topK: 5, filter: {} };
const error = {
  errorType: 'retrieval_error',
  message: 'No.',
  userMessage: 'Try later.',
  recoverable: true,
} as const;

test('shows how many questions are ahead in the queue', () => {
  expect(applyAll({ type: 'waiting', ahead: 3 }).activity).toBe('Waiting for 3 other questions');
  expect(applyAll({ type: 'waiting', ahead: 0 }).activity).toBe('Waiting');
});

test('shows a running search, and the error of a failed one', () => {
  expect(applyAll(search)).toMatchObject({
    activity: 'Searching: why',
    searches: [{ query: 'why', found: null }],
  });
  const failure = { ...error, retryAfter: null };
  const finished = applyAll(search, {
    type: 'retrieval_finished',
    retrievalId: 'a',
    context: null,
    error: failure,
  });
  expect(finished.searches).toMatchObject([{ query: 'why', found: 0, error: 'Try later.' }]);
});

test('drops text written before another search', () => {
  const { text } = applyAll(
    { type: 'text_delta', delta: 'Let me see.' },
    { type: 'phase', from: 'generating', to: 'retrieving' },
    { type: 'phase', from: 'retrieving', to: 'generating' },
    { type: 'text_delta', delta: 'So.' },
  );
  expect(text).toBe('So.');
});

test('drops text whose stream failed', () => {
  const { text } = applyAll(
    { type: 'text_delta', delta: 'So' },
    { type: 'text_discarded' },
    { type: 'text_delta', delta: 'Then.' },
  );
  expect(text).toBe('Then.');
});

test('an error keeps the text and shows the hint', () => {
  const failure = { ...error, retryAfter: null };
  const turn = applyAll({ type: 'text_delta', delta: 'So' }, { type: 'error', error: failure });
  expect(turn).toMatchObject({ status: 'failed', text: 'So', activity: '', error: 'No. Try later.' });
});

test('a retry is the current step, and not a notice that stays', () => {
  const retry = { attempt: 1, waitMs: 1000, error: { ...error, retryAfter: null } };
  const turn = applyAll({ type: 'notice', message: 'Retrying in 1 s.', retry });
  expect(turn).toMatchObject({ activity: 'Retrying in 1 s.', notices: [] });
});
