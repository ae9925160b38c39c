import { MaxTurnsExceededError, ModelBehaviorError, ModelRefusalError, ToolCallError } from '@openai/agents';
import fc from 'fast-check';
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { expect, test } from 'vitest';
import { type ModelErrorContext, toAppError } from '../../../src/agent/guards/model-errors.ts';
import { AppError, type ErrorKind } from '../../../src/faults/app-error.ts';

const context: ModelErrorContext = {
  model: 'm1',
  baseUrl: 'https://api.llm.test/v1',
  secrets: ['k-secret-4711'],
  keyVariable: 'GROQ_API_KEY',
};

function http(status: number, error: object | string = 'no', headers: Record<string, string> = {}): APIError {
  return APIError.generate(status, { error }, undefined, new Headers(headers));
}

function connection(code: string): APIConnectionError {
  const cause = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });
  return new APIConnectionError({ cause });
}

const kinds: Array<[number, object | string, ErrorKind, boolean]> = [
  [400, { code: 'context_length_exceeded', message: 'Too long.' }, 'context_overflow', false],
  [400, "This model's maximum context length is 8192 tokens.", 'context_overflow', false],
  [400, 'the request exceeds the available context size, try increasing it', 'context_overflow', false],
  [400, 'prompt is too long: 210000 tokens > 200000 maximum', 'context_overflow', false],
  [
    400,
    'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
    'context_overflow',
    false,
  ],
  [400, 'Please reduce the length of the messages or completion.', 'context_overflow', false],
  [413, 'Request too large for model `m1` on tokens per minute (TPM)', 'context_overflow', false],
  [429, 'Request too large for m1: Limit 30000, Requested 34000.', 'context_overflow', false],
  [429, 'Rate limit reached for m1 on tokens per minute (TPM): Limit 6000, Used 5990.', 'rate_limit', true],
  [429, 'The number of tokens exceeds the limit per minute.', 'rate_limit', true],
  [429, { code: 'insufficient_quota', message: 'You exceeded your current quota.' }, 'rate_limit', false],
  [402, 'This request requires more credits', 'rate_limit', false],
  [401, 'bad key', 'auth_error', false],
  [403, 'forbidden', 'auth_error', false],
  [404, { code: 'model_not_found', message: 'The model `m1` does not exist' }, 'configuration_error', false],
  [404, "model 'm1' not found, try pulling it first", 'configuration_error', false],
  [400, 'm1 is not a valid model ID', 'configuration_error', false],
  [404, '404 page not found', 'configuration_error', false],
  [400, 'registry.ollama.ai/library/m1 does not support tools', 'configuration_error', false],
  [400, { code: 'tool_use_failed', message: 'Failed to call a function.' }, 'api_error', true],
  [400, "Invalid 'temperature': decimal below minimum value.", 'api_error', false],
  [400, { code: 'content_filter', message: 'Filtered.' }, 'api_error', false],
  [422, 'what?', 'api_error', false],
  [408, 'slow', 'api_error', true],
  [500, 'oops', 'api_error', true],
  [503, 'model is loading', 'api_error', true],
  [529, { type: 'overloaded_error', message: 'Overloaded' }, 'api_error', true],
];

test.each(kinds)('HTTP %s with %j is %s (recoverable: %s)', (status, error, kind, recoverable) => {
  expect(toAppError(http(status, error), context)).toMatchObject({ kind, recoverable });
});

test('names the service, the model and the message of the service', () => {
  expect(
    toAppError(http(404, { code: 'model_not_found', message: 'No such model.' }), context),
  ).toMatchObject({
    message: 'The model service at api.llm.test does not know the model m1: No such model.',
    hint: expect.stringContaining('the setting model'),
  });
  expect(toAppError(http(401, ''), context).hint).toContain('GROQ_API_KEY');
});

test.each([
  ['ECONNREFUSED', 'refused the connection', true],
  ['ENOTFOUND', 'there is no host of that name', false],
  ['ECONNRESET', 'closed the connection too early', true],
  ['UND_ERR_HEADERS_TIMEOUT', 'took too long', true],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS certificate', false],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS certificate', false],
])('describes %s', (code, words, recoverable) => {
  expect(toAppError(connection(code), context)).toMatchObject({
    kind: 'api_error',
    message: expect.stringContaining(words),
    recoverable,
  });
});

test('timeouts and connection errors without a code are recoverable', () => {
  expect(toAppError(new APIConnectionTimeoutError(), context)).toMatchObject({ recoverable: true });
  expect(toAppError(new APIConnectionError({}), context)).toMatchObject({ recoverable: true });
});

test.each([
  [new MaxTurnsExceededError('Max turns (8) exceeded'), 'kept calling tools'],
  [new ModelRefusalError('I must not.'), 'declined to answer: Model refused to produce output: I must not.'],
  [new ModelBehaviorError('Tool web_search not found in agent A.'), 'a tool that does not exist, web_search'],
  [new ModelBehaviorError('Invalid JSON provided'), 'not valid JSON'],
  [new ModelBehaviorError('Model did not produce a final response!'), 'without an answer'],
  [new ModelBehaviorError('Something else'), 'did not follow the protocol: Something else.'],
  [new SyntaxError('Unexpected token'), 'not valid JSON'],
])('describes %s', (error, words) => {
  expect(toAppError(error)).toMatchObject({ kind: 'api_error', message: expect.stringContaining(words) });
});

test('an abort is an interruption, also by a timeout signal', () => {
  expect(toAppError(new APIUserAbortError())).toMatchObject({ kind: 'interrupted' });
  expect(toAppError(new Error('x'), { signal: AbortSignal.abort() })).toMatchObject({ kind: 'interrupted' });
  const signal = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
  expect(toAppError(signal.reason, { signal })).toMatchObject({ kind: 'interrupted' });
});

test('recognizes an error class that a bundler renamed', () => {
  class APIUserAbortError$1 extends Error {}
  expect(toAppError(new APIUserAbortError$1())).toMatchObject({ kind: 'interrupted' });
});

test('returns an AppError unchanged, also from inside wrappers', () => {
  const own = new AppError('retrieval_error', 'The store is gone.');
  expect(toAppError(own)).toBe(own);
  expect(toAppError(new APIConnectionError({ cause: own }))).toBe(own);
  expect(toAppError(new ToolCallError('tool failed', own))).toBe(own);
});

test('describes any thrown value', () => {
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      expect(toAppError(thrown, context).message).toMatch(/^\S.*\.$/s);
    }),
  );
});

test.each([
  [{ 'retry-after': '7' }, 'slow down', 7],
  [{ 'retry-after-ms': '1500' }, 'slow down', 1.5],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }, 'slow down', 360],
  [{}, 'Rate limit reached. Please try again in 1m2.5s. Visit us.', 62.5],
  [{}, 'Please retry after 20 seconds', 20],
  [{}, 'Please try again in 250ms.', 0.25],
  [{}, 'slow down', undefined],
])('reads the wait from %j and %j', (headers, message, seconds) => {
  expect(toAppError(http(429, { message }, headers)).retryAfter).toEqual(seconds);
});

test.each([
  'Incorrect API key provided: sk-proj-abcdefgh12345678.',
  'Incorrect API key provided: sk-ab***********wxyz.',
  'Invalid header Authorization: Bearer abcdefghij',
  'key gsk_abcdefgh12345678 is revoked',
  'bad api_key=abcdefghij',
  'you sent k-secret-4711 to us',
])('removes the key from %j', (message) => {
  const error = toAppError(http(401, { message }), context);
  expect(`${error.message} ${error.stack} ${error.cause} ${(error.cause as Error).stack}`).not.toMatch(
    /abcdefgh|wxyz|4711/,
  );
  expect(error.message).toContain('[redacted]');
});
