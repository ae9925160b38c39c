/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />
import { expect, test } from 'vitest';
import type { AskEvent } from '../../../src/web/chat/api.ts';
import { afterEvent, newTurn } from '../../../src/web/chat/turn-state.ts';

const after = (...events: AskEvent[]) => events.reduce(afterEvent, newTurn('Why?'));
const search: AskEvent = { type: 'retrieval_started', retrievalId: 'a', query: 'why', topK: 5, filter: {} };
const error = {
  errorType: 'retrieval_error',
  message: 'No.',
  userMessage: 'Try later.',
  recoverable: true,
} as const;

test('a question that waits says behind how many', () => {
  expect(after({ type: 'waiting', ahead: 3 }).activity).toBe('Waiting behind 3');
  expect(after({ type: 'waiting', ahead: 0 }).activity).toBe('Waiting');
});

test('a search is under way until it is finished, and one that failed says why', () => {
  expect(after(search)).toMatchObject({
    activity: 'Searching: why',
    searches: [{ query: 'why', found: null }],
  });
  const failure = { ...error, retryAfter: null };
  const finished = after(search, {
    type: 'retrieval_finished',
    retrievalId: 'a',
    context: null,
    error: failure,
  });
  expect(finished.searches).toMatchObject([{ query: 'why', found: 0, error: 'Try later.' }]);
});

test('what was said before another search is not part of the answer', () => {
  const { text } = after(
    { type: 'text_delta', delta: 'Let me see.' },
    { type: 'phase', from: 'generating', to: 'retrieving' },
    { type: 'phase', from: 'retrieving', to: 'generating' },
    { type: 'text_delta', delta: 'So.' },
  );
  expect(text).toBe('So.');
});

test('a failure keeps what was said, and says what to do', () => {
  const failure = { ...error, retryAfter: null };
  const turn = after({ type: 'text_delta', delta: 'So' }, { type: 'error', error: failure });
  expect(turn).toMatchObject({ status: 'failed', text: 'So', activity: '', error: 'No. Try later.' });
});
