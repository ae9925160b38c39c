import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { trustFiles } from '../support/trust-files.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'citeloop-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function write(name: string, content: string | object): string {
  const path = join(cwd, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const load = (sources: Parameters<typeof loadConfig>[0] = {}) => loadConfig({ env: {}, cwd, ...sources });

test('without any setting the defaults need no key and no server', () => {
  const config = load({ env: { HOME: '/home/ada' }, platform: 'linux' });
  expect(config.agent).toMatchObject({
    model: 'offline',
    topK: 8,
    collection: 'web_documents',
    maxTokens: 1024,
  });
  expect(config.agent.scoreThreshold).toBeUndefined();
  expect(config).toMatchObject({
    home: '/home/ada/.local/share/citeloop',
    cache: '/home/ada/.cache/citeloop',
    modelDir: undefined,
    store: 'sqlite',
    embedding: { embedder: 'minilm' },
    rerank: { by: 'words' },
    collectionChosen: false,
    origins: {},
  });
});

test('precedence: flag, environment, .env, config file, default', () => {
  const given = { flag: 1, env: 2, dotEnv: 3, file: 4, default: 8 };
  fc.assert(
    fc.property(fc.subarray(['flag', 'env', 'dotEnv', 'file'] as const), (sources) => {
      const has = (source: (typeof sources)[number]) => sources.includes(source);
      write('.env', has('dotEnv') ? 'AGENT_TOP_K=3' : '');
      write('citeloop.config.json', has('file') ? { topK: 4 } : {});
      const { agent } = load({
        flags: { topK: has('flag') ? 1 : undefined },
        env: has('env') ? { AGENT_TOP_K: '2' } : {},
      });
      expect(agent.topK).toBe(given[sources[0] ?? 'default']);
    }),
    { numRuns: 50 },
  );
});

test('the offline model has other defaults for topK and toolName', () => {
  const offline = load({});
  expect(offline.agent).toMatchObject({ toolName: 'retrieve_context', topK: 8 });
  expect(offline.searchTopK).toBe(5);
  expect(load({ flags: { model: 'another' } }).agent).toMatchObject({ toolName: 'search_docs', topK: 5 });
  const given = load({ flags: { toolName: 'search_docs', topK: 3 } });
  expect(given.agent).toMatchObject({ toolName: 'search_docs', topK: 3 });
  expect(given.searchTopK).toBe(3);
});

test('every environment variable sets its field', () => {
  const config = load({
    env: {
      OPENAI_API_KEY: 'sk-openai',
      OPENAI_BASE_URL: 'http://localhost:11434/v1',
      OPENAI_MODEL: 'llama',
      OPENAI_API: 'responses',
      COHERE_API_KEY: 'co-key\n',
      QDRANT_URL: 'https://qdrant.test:6333',
      QDRANT_API_KEY: 'qd-key',
      AGENT_TOP_K: '7',
      AGENT_SCORE_THRESHOLD: '0.45',
      AGENT_MAX_TURNS: '9',
      CITELOOP_HOME: 'data',
      CITELOOP_MODEL_DIR: '/models',
      CITELOOP_EMBEDDER: 'openai',
      EMBEDDING_MODEL: 'nomic-embed-text',
      EMBEDDING_BASE_URL: 'http://localhost:9000/v1',
      EMBEDDING_DIMENSIONS: '256',
      EMBEDDING_API_KEY: 'em-key',
      CITELOOP_RERANK: 'true',
      RERANK_MODEL: 'rerank-v3.5',
      COHERE_BASE_URL: 'https://cohere.test',
      QDRANT_PAYLOAD_MAP: 'text=chunk_text, url=meta.source',
      GROQ_API_KEY: 'gsk-key',
      OPENROUTER_API_KEY: 'or-key',
      OLLAMA_API_KEY: 'ol-key',
    },
  });
  expect(config.agent).toMatchObject({
    baseUrl: 'http://localhost:11434/v1',
    model: 'llama',
    api: 'responses',
    topK: 7,
    scoreThreshold: 0.45,
    maxTurns: 9,
  });
  expect(config).toMatchObject({
    store: 'qdrant',
    qdrant: { url: 'https://qdrant.test:6333', payloadMap: { text: 'chunk_text', url: 'meta.source' } },
    embedding: { embedder: 'openai', model: 'nomic-embed-text', dimensions: 256 },
    rerank: { by: 'cohere', model: 'rerank-v3.5' },
    cohereBaseUrl: 'https://cohere.test',
    home: join(cwd, 'data'),
    modelDir: '/models',
  });
  expect(config.secrets.map((secret) => secret.reveal()).sort()).toEqual([
    'co-key',
    'em-key',
    'gsk-key',
    'ol-key',
    'or-key',
    'qd-key',
    'sk-openai',
  ]);
  const used = [config.modelService.key, config.embedding.service.key, config.cohereKey, config.qdrant.key];
  expect(used.map((key) => key?.reveal())).toEqual(['sk-openai', 'em-key', 'co-key', 'qd-key']);
  expect(config.embedding.service).toMatchObject({ baseUrl: 'http://localhost:9000/v1' });
});

test('a key alone does not switch the model', () => {
  expect(load({ env: { OPENAI_API_KEY: 'sk-openai' } }).agent.model).toBe('offline');
});

test('uses Chat Completions for servers other than OpenAI by default', () => {
  expect(load().agent.api).toBe('responses');
  expect(load({ flags: { baseUrl: 'http://localhost:8080/v1' } }).agent.api).toBe('chat_completions');
});

test('an empty variable is unset and overrides the one in .env', () => {
  write('.env', 'OPENAI_API_KEY=sk-from-file\nOPENAI_MODEL=from-file');
  expect(load().agent.model).toBe('from-file');
  const config = load({ env: { OPENAI_API_KEY: '', OPENAI_MODEL: ' ' } });
  expect(config.agent.model).toBe('offline');
  expect(config.modelService.key).toBeUndefined();
});

test('the configuration is frozen', () => {
  const config = load({ env: { OPENAI_API_KEY: 'sk-openai' } });
  for (const part of [config, config.agent, config.secrets, config.origins, ...config.secrets]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

test('no key is printed with the configuration', () => {
  const config = load({
    env: { OPENAI_API_KEY: 'sk-openai', COHERE_API_KEY: 'co-key', QDRANT_API_KEY: 'qd-key' },
  });
  for (const print of [JSON.stringify(config), inspect(config, { depth: null, showHidden: true })]) {
    expect(print).not.toMatch(/sk-openai|co-key|qd-key/);
    expect(print).toContain('[redacted]');
  }
});

test('collectionChosen is true for every source of the collection', () => {
  expect(load({ flags: { collection: 'web_documents' } }).collectionChosen).toBe(true);
  write('citeloop.config.json', { collection: 'book' });
  expect(load()).toMatchObject({ collectionChosen: true, agent: { collection: 'book' } });
});

test('records the source of every setting', () => {
  const path = write('citeloop.config.json', { temperature: 0 });
  expect(load({ flags: { topK: 3 }, env: { OPENAI_MODEL: 'm' } }).origins).toEqual({
    topK: 'flag --top-k',
    model: 'environment OPENAI_MODEL',
    temperature: `${path} field temperature`,
  });
});

test('an invalid flag is an invalid_input error with the allowed values', () => {
  for (const topK of ['many', 0, 21, Number.NaN, '']) {
    expect(() => load({ flags: { topK } })).toThrow(
      expect.objectContaining({
        kind: 'invalid_input',
        message: expect.stringMatching(/^--top-k must be a whole number from 1 to 20/),
      }),
    );
  }
});

test('an invalid variable is a configuration error that names it and its file', () => {
  const error = (origin: string) =>
    expect.objectContaining({
      kind: 'configuration_error',
      message: `topK (${origin}) must be a whole number from 1 to 20, not 50.`,
    });
  expect(() => load({ env: { AGENT_TOP_K: '50' } })).toThrow(error('environment AGENT_TOP_K'));
  const path = write('.env', 'AGENT_TOP_K=50');
  expect(() => load()).toThrow(error(`AGENT_TOP_K in ${path}`));
});

test('an invalid field is a configuration error even if a flag overrides it', () => {
  const path = write('citeloop.config.json', { topK: '7' });
  expect(() => load({ flags: { topK: 3 } })).toThrow(
    expect.objectContaining({
      kind: 'configuration_error',
      message: `topK (${path} field topK) must be a whole number from 1 to 20, not 7.`,
    }),
  );
});

test('suggests the nearest name for an unknown field', () => {
  write('citeloop.config.json', { topk: 7 });
  expect(() => load()).toThrow(
    expect.objectContaining({
      kind: 'configuration_error',
      message: expect.stringContaining('"topk"'),
      hint: 'Did you mean topK?',
    }),
  );
});

test('rejects a key in the config file without printing it', () => {
  write('citeloop.config.json', { openaiApiKey: 'sk-openai' });
  expect(() => load()).toThrow(
    expect.objectContaining({
      message: expect.not.stringContaining('sk-'),
      hint: expect.stringContaining('OPENAI_API_KEY'),
    }),
  );
});

test('does not print a key in the wrong variable', () => {
  expect(() => load({ env: { OPENAI_API: 'sk-proj-0123456789' } })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('0123') }),
  );
});

test('rejects a config file that is not a JSON object, without quoting it', () => {
  write('citeloop.config.json', '{ "model": sk-openai }');
  expect(() => load()).toThrow(
    expect.objectContaining({ kind: 'configuration_error', message: expect.not.stringContaining('sk-') }),
  );
  write('citeloop.config.json', '[]');
  expect(() => load()).toThrow(/one JSON object/);
});

test('the file of --config must exist, and its paths are relative to it', async () => {
  expect(() => load({ configPath: 'missing.json' })).toThrow(
    expect.objectContaining({ kind: 'invalid_input', message: expect.stringContaining('--config') }),
  );
  mkdirSync(join(cwd, 'settings'));
  await trustFiles(join(cwd, 'citeloop'), write('settings/mine.json', { home: 'data', model: 'mine' }));
  const env = { XDG_CONFIG_HOME: cwd };
  expect(load({ configPath: 'settings/mine.json', env })).toMatchObject({
    home: join(cwd, 'settings', 'data'),
    agent: { model: 'mine' },
  });
});

test('reports the path of an unreadable config file', () => {
  mkdirSync(join(cwd, 'citeloop.config.json'));
  expect(() => load()).toThrow(expect.objectContaining({ kind: 'configuration_error' }));
});

test('maxTokens must be below contextWindow, and the default always is', () => {
  expect(() => load({ flags: { maxTokens: 8192 } })).toThrow(
    expect.objectContaining({
      kind: 'invalid_input',
      message: expect.stringContaining('maxTokens is 8192 (flag --max-tokens)'),
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 1_000_000 }), (contextWindow) => {
      const { agent } = load({ flags: { contextWindow } });
      expect(agent.maxTokens).toBeLessThan(agent.contextWindow);
    }),
    { numRuns: 50 },
  );
});

test('parses flags given as text and ignores unknown ones', () => {
  const { agent } = load({
    flags: { temperature: '0.5', stream: 'false', verbose: true, $0: 'citeloop', _: ['ask'] },
  });
  expect(agent).toMatchObject({ temperature: 0.5, stream: false, verbose: true });
});
