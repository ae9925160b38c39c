import { expect, test } from 'vitest';
import * as z from 'zod';
import { connectToCohere } from '../../src/adapters/cohere/cohere-client.ts';
import { postJson } from '../../src/adapters/hosted/json-service.ts';
import { toQdrantError } from '../../src/adapters/qdrant/qdrant-error.ts';
import { toAppError } from '../../src/agent/guards/model-errors.ts';
import { redactShownText } from '../../src/faults/redactor.ts';

/** Without a known prefix; a service may echo the key of another one. */
const [MODEL_KEY, COHERE_KEY, QDRANT_KEY] = ['blue.Whale-77', 'grey:heron=4411', 'owl!at!night'];
const secrets = [MODEL_KEY, COHERE_KEY, QDRANT_KEY];
const echo = `you sent ${secrets.join(' and ')}, or ${Buffer.from(QDRANT_KEY).toString('base64')}`;

test('no error message contains a configured key', async () => {
  const refused = Object.assign(new Error(echo), { status: 400, error: { message: echo } });
  const ofModel = toAppError(refused, { model: 'm', secrets });

  const options = { apiKey: COHERE_KEY, timeoutMs: 60_000, secrets };
  const { service } = await connectToCohere(options, 'rerank-x', z.unknown());
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => Response.json({ message: echo }, { status: 400 });
  const ofCohere = await postJson({ url: 'https://cohere.test', headers: {}, body: {} }, service)
    .catch((error: unknown) => error)
    .finally(() => {
      globalThis.fetch = fetchBefore;
    });

  const answer = { status: 400, headers: new Headers(), data: { status: { error: echo } } };
  const ofQdrant = toQdrantError(Object.assign(new Error('Bad Request'), answer), {
    server: 'http://q.test',
    collection: null,
    timeoutMs: 60_000,
    apiKey: QDRANT_KEY,
    secrets,
  });
  for (const fault of [ofModel, ofCohere, ofQdrant] as Error[]) {
    expect(fault.message).toContain('you sent [redacted] and [redacted] and [redacted], or [redacted]');
    for (const secret of secrets)
      expect(`${fault.message} ${fault.cause} ${fault.stack}`).not.toContain(secret);
  }
});

test('redacts registry tokens and private keys, but no placeholder keys', () => {
  expect(redactShownText('none of it', ['no', undefined])).toBe('none of it');
  expect(redactShownText(`npm_${'x1'.repeat(18)}`)).toBe('[redacted]');
  expect(redactShownText('-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----')).toBe('[redacted]');
});
