import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';

// A directory without .env and config file.
const cwd = mkdtempSync(join(tmpdir(), 'citeloop-access-'));
afterAll(() => rmSync(cwd, { recursive: true }));

function load(env: Record<string, string>, flags: Record<string, unknown> = {}) {
  return loadConfig({ env, flags, cwd });
}

/** The URL of a service and the key that is sent to it. */
function accessOf({ modelService, embedding }: ReturnType<typeof load>) {
  const shown = ({ baseUrl, key, keyVariable }: typeof modelService) => [baseUrl, key?.reveal(), keyVariable];
  return { model: shown(modelService), embedding: shown(embedding.service) };
}

test.each([
  ['openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY', 'responses'],
  ['groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY', 'chat_completions'],
  ['openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', 'chat_completions'],
  ['ollama', 'http://127.0.0.1:11434/v1', 'OLLAMA_API_KEY', 'chat_completions'],
])('the provider %s sets the URL, the key and the API', (provider, baseUrl, keyVariable, api) => {
  const config = load({ [keyVariable]: 'the-key' }, { provider, model: 'm' });
  expect(accessOf(config).model).toEqual([baseUrl, 'the-key', keyVariable]);
  expect(config.agent).toMatchObject({ baseUrl, api });
});

test("a provider never gets another provider's key", () => {
  const config = load({ OPENAI_API_KEY: 'sk-openai' }, { provider: 'groq', model: 'm' });
  expect(config.modelService).toMatchObject({ key: undefined, needsKey: true });
});

test('the stronger one of base URL and provider is used', () => {
  const env = { OPENAI_BASE_URL: 'http://localhost:8000/v1', OPENAI_API_KEY: 'local', GROQ_API_KEY: 'gsk' };
  expect(accessOf(load(env, { provider: 'groq' })).model).toEqual([
    'https://api.groq.com/openai/v1',
    'gsk',
    'GROQ_API_KEY',
  ]);
  const flag = { baseUrl: 'http://localhost:9000/v1' };
  expect(accessOf(load({ ...env, CITELOOP_PROVIDER: 'groq' }, flag)).model).toEqual([
    'http://localhost:9000/v1',
    'gsk',
    'GROQ_API_KEY',
  ]);
  expect(accessOf(load(env)).model).toEqual(['http://localhost:8000/v1', 'local', 'OPENAI_API_KEY']);
});

test('a known service given by URL uses its own key variable', () => {
  const groq = { OPENAI_BASE_URL: 'https://api.groq.com/openai/v1' };
  expect(accessOf(load({ ...groq, GROQ_API_KEY: 'gsk' })).model[1]).toBe('gsk');
  expect(accessOf(load({ ...groq, OPENAI_API_KEY: 'kept-there' })).model[1]).toBe('kept-there');
});

test('a grading model or arm at another address gets the key of that service', () => {
  const env = { OPENAI_API_KEY: 'openai', GROQ_API_KEY: 'groq' };
  const { modelServiceAt } = load(env, { provider: 'groq', model: 'm' });
  expect(modelServiceAt('https://api.openai.com/v1').key?.reveal()).toBe('openai');
  expect(modelServiceAt('https://api.groq.com/openai/v1').key?.reveal()).toBe('groq');
  expect(modelServiceAt('http://localhost:9000/v1').key?.reveal()).toBe('openai');
});

test('embeddings use the server and key of the model by default', () => {
  const env = { OPENAI_BASE_URL: 'http://localhost:8000/v1', OPENAI_API_KEY: 'local' };
  expect(accessOf(load(env)).embedding).toEqual(['http://localhost:8000/v1', 'local', 'OPENAI_API_KEY']);
  expect(accessOf(load({ OPENAI_API_KEY: 'sk' })).embedding).toEqual([
    'https://api.openai.com/v1',
    'sk',
    'OPENAI_API_KEY',
  ]);
});

test.each([
  [
    'a key that belongs to a server elsewhere',
    'https://api.openai.com/v1',
    { OPENAI_BASE_URL: 'http://localhost:1/v1' },
  ],
  ["the model's key to a server for embeddings", 'http://embeddings.test/v1', {}],
])('does not send %s', (_, EMBEDDING_BASE_URL, more) => {
  const env = { OPENAI_API_KEY: 'sk-secret', EMBEDDING_BASE_URL, ...more };
  expect(accessOf(load(env)).embedding).toEqual([EMBEDDING_BASE_URL, undefined, 'EMBEDDING_API_KEY']);
  expect(accessOf(load({ ...env, EMBEDDING_API_KEY: 'own' })).embedding[1]).toBe('own');
});

test('embeddings of OpenAI use its key with a model of another service', () => {
  const env = { OPENAI_API_KEY: 'sk', GROQ_API_KEY: 'gsk', EMBEDDING_BASE_URL: 'https://api.openai.com/v1' };
  expect(accessOf(load(env, { provider: 'groq', model: 'm' })).embedding).toEqual([
    'https://api.openai.com/v1',
    'sk',
    'OPENAI_API_KEY',
  ]);
});
