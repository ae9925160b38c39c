import { expect, test } from 'vitest';
import { classifyNetworkCode, findNetworkCode } from '../../src/faults/network-errors.ts';
import { describeNetworkError } from '../../src/faults/service-errors.ts';

const names = { service: 'Cohere', keyVariable: 'COHERE_API_KEY' };

test.each([
  ['ECONNREFUSED', 'refused the connection', 'moment'],
  ['EAI_AGAIN', 'cannot be found: the name server did not answer', 'moment'],
  ['EHOSTUNREACH', 'cannot be reached', 'moment'],
  ['ENETUNREACH', 'cannot be reached', 'moment'],
  ['ECONNRESET', 'closed the connection too early', 'moment'],
  ['UND_ERR_BODY_TIMEOUT', 'took too long to answer', 'slow'],
  ['ENOTFOUND', 'cannot be found: there is no host of that name', 'lasting'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'could not be trusted: its TLS certificate or protocol fails', 'lasting'],
  ['HPE_INVALID_CONSTANT', 'does not speak HTTP', 'lasting'],
])('describes %s for every service, and whether it is recoverable', (code, predicate, duration) => {
  expect(classifyNetworkCode(code)).toMatchObject({ predicate, duration });
  expect(describeNetworkError(code, names)).toMatchObject({
    sentence: `Cohere ${predicate} (${code})`,
    recoverable: duration !== 'lasting',
  });
});

test('describes an unknown code as unreachable and recoverable', () => {
  expect(classifyNetworkCode('ESTRANGE')).toBeUndefined();
  expect(describeNetworkError('ESTRANGE', names)).toMatchObject({
    sentence: 'Cohere could not be reached (ESTRANGE)',
    recoverable: true,
  });
  expect(describeNetworkError(undefined, names).sentence).toBe('Cohere could not be reached');
});

test('finds the code in the chain of causes', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(findNetworkCode(new TypeError('fetch failed', { cause: refused }))).toBe('ECONNREFUSED');
  const several = new AggregateError([refused]);
  expect(findNetworkCode(new TypeError('fetch failed', { cause: several }))).toBe('ECONNREFUSED');
  expect(findNetworkCode(Object.assign(new Error('x'), { code: 'insufficient_quota' }))).toBeUndefined();
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(findNetworkCode(circle)).toBeUndefined();
});
