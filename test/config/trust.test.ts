import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import {
  type SecretVariable,
  type SettingName,
  settingNames,
  settingTargets,
  settingVariables,
} from '../../src/config/settings.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { trustFiles } from '../support/trust-files.ts';

/** A value of every setting that is not its default. */
const EXAMPLES: Record<SettingName, unknown> = {
  model: 'm',
  baseUrl: 'http://model.test/v1',
  api: 'chat_completions',
  temperature: 1,
  maxTokens: 100,
  contextWindow: 4000,
  systemPrompt: 'Be brief.',
  policy: 'always',
  toolName: 'search_docs',
  readSource: false,
  rewrite: true,
  requireCitations: true,
  topK: 3,
  scoreThreshold: 0.5,
  maxTurns: 3,
  maxSteps: 3,
  maxHistory: 3,
  maxTurnSeconds: 3,
  maxEventBytes: 3000,
  maxAnswerCharacters: 3000,
  collection: 'c',
  abstentionPhrases: ['unknown'],
  verbose: true,
  stream: false,
  provider: 'groq',
  store: 'qdrant',
  qdrantUrl: 'http://qdrant.test',
  qdrantShards: 2,
  qdrantReplicas: 2,
  qdrantQuantization: 'int8',
  payloadMap: { text: 'body' },
  embedder: 'onnx:./m',
  embeddingModel: 'e',
  embeddingBaseUrl: 'http://embedding.test/v1',
  embeddingDimensions: 3,
  rerank: 'onnx:./m',
  rerankModel: 'r',
  rerankBaseUrl: 'http://rerank.test/v1',
  check: 'onnx:./m',
  cohereBaseUrl: 'http://cohere.test',
  prices: {},
  maxParseSeconds: 3,
  maxParseMemoryMb: 100,
  maxParseOutputMb: 3,
  home: './data',
  modelDir: './m',
};

const PLACES = ['project file', '.env', 'user file', 'environment', 'flag'] as const;
type Place = (typeof PLACES)[number];

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  cwd = await createTemporaryDirectory();
});

const variableOf = (name: SettingName) =>
  Object.entries(settingVariables).find(([, setting]) => setting === name)?.[0];

function toText(value: unknown): string {
  return typeof value === 'object' ? 'text=body' : String(value);
}

interface Given {
  place: Place;
  name: SettingName | SecretVariable;
  value: unknown;
}

/** Puts settings and keys in their places, and returns how to load them. */
async function place(givens: readonly Given[], isTrusted: boolean) {
  const found: Record<Place, Record<string, unknown>> = {
    'project file': {},
    '.env': {},
    'user file': {},
    environment: { XDG_CONFIG_HOME: home },
    flag: {},
  };
  for (const { place, name, value } of givens) {
    const isVariable = place === '.env' || place === 'environment';
    const variable = variableOf(name as SettingName) ?? name;
    found[place][isVariable ? variable : name] = isVariable ? toText(value) : value;
  }
  const files = [join(cwd, 'citeloop.config.json'), join(cwd, '.env')];
  const [config = '', dotEnv = ''] = files;
  await writeFile(config, JSON.stringify(found['project file']));
  const lines = Object.entries(found['.env']).map(([variable, value]) => `${variable}=${value}\n`);
  await writeFile(dotEnv, lines.join(''));
  await mkdir(join(home, 'citeloop'), { recursive: true });
  await writeFile(join(home, 'citeloop', 'config.json'), JSON.stringify(found['user file']));
  if (isTrusted) await trustFiles(join(home, 'citeloop'), ...files);
  const env = found.environment as Record<string, string>;
  return (more: Parameters<typeof loadConfig>[0] = {}) =>
    loadConfig({ env, flags: found.flag, cwd, ...more });
}

const untrusted = (...names: string[]) =>
  expect.objectContaining({
    name: 'UntrustedFilesError',
    kind: 'configuration_error',
    files: [expect.objectContaining({ sets: names.map((name) => expect.objectContaining({ name })) })],
  });

const HARMLESS = [
  ...['abstentionPhrases', 'api', 'collection', 'contextWindow', 'embeddingDimensions', 'embeddingModel'],
  ...['maxAnswerCharacters', 'maxEventBytes', 'maxHistory', 'maxSteps', 'maxTokens', 'maxTurnSeconds'],
  ...['maxTurns', 'model', 'payloadMap', 'policy', 'prices', 'provider', 'qdrantQuantization'],
  ...['qdrantReplicas', 'qdrantShards', 'readSource', 'requireCitations', 'rerankModel', 'rewrite'],
  ...['scoreThreshold', 'store', 'stream', 'systemPrompt', 'temperature', 'toolName', 'topK', 'verbose'],
];

test('every setting says what it names', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(settingNames.toSorted());
  // A name that promises an address or a path is not classified as harmless.
  const harmless = settingNames.filter((name) => settingTargets[name] === undefined);
  expect(harmless.filter((name) => /url|dir|file|path|home/i.test(name))).toEqual([]);
  // A new setting is added here, or to `settingTargets` if a stranger's project must not set it.
  expect(harmless.toSorted()).toEqual(HARMLESS);
});

describe.each(settingNames)('%s', (name) => {
  const value = EXAMPLES[name];
  const places = PLACES.filter(
    (place) =>
      // The flag --prices is a file, and not every setting has a variable.
      !(place === 'flag' && name === 'prices') &&
      (variableOf(name) !== undefined || !['.env', 'environment'].includes(place)),
  );
  const cases = places.flatMap((place) => [true, false].map((isTrusted) => ({ place, isTrusted })));

  test.each(cases)('in the $place, trusted: $isTrusted', async ({ place: where, isTrusted }) => {
    const load = await place([{ place: where, name, value }], isTrusted);
    const isProject = where === 'project file' || where === '.env';
    if (isProject && settingTargets[name] !== undefined && !isTrusted) {
      const field = where === '.env' ? (variableOf(name) ?? '') : name;
      expect(() => load()).toThrow(untrusted(field));
      const config = load({ whenUntrusted: 'ignore' });
      expect(config.given[name]).toBeUndefined();
      expect(config.untrusted).toEqual([expect.objectContaining({ name })]);
    } else {
      expect(load()).toMatchObject({ given: { [name]: value }, untrusted: [] });
    }
  });
});

/** Every address with the key of its service, and what a load gives for it. */
const SERVICES: {
  name: SettingName;
  variable: SecretVariable;
  own: string | null;
  keyOf: (config: ReturnType<typeof loadConfig>) => { reveal(): string } | undefined;
}[] = [
  {
    name: 'baseUrl',
    variable: 'OPENAI_API_KEY',
    own: 'https://api.openai.com/v1',
    keyOf: ({ modelService }) => modelService.key,
  },
  {
    name: 'embeddingBaseUrl',
    variable: 'EMBEDDING_API_KEY',
    own: null,
    keyOf: ({ embedding }) => embedding.service.key,
  },
  {
    name: 'cohereBaseUrl',
    variable: 'COHERE_API_KEY',
    own: 'https://api.cohere.com',
    keyOf: ({ cohereKey }) => cohereKey,
  },
  { name: 'rerankBaseUrl', variable: 'RERANK_API_KEY', own: null, keyOf: ({ rerank }) => rerank.key },
  { name: 'qdrantUrl', variable: 'QDRANT_API_KEY', own: null, keyOf: ({ qdrant }) => qdrant.key },
];

test('every address has a key that is bound to it', () => {
  const addresses = settingNames.filter((name) => settingTargets[name] === 'address');
  expect(SERVICES.map(({ name }) => name).sort()).toEqual(addresses.sort());
});

describe.each(SERVICES)('the key for $name', ({ name, variable, keyOf }) => {
  const cases = PLACES.flatMap((address) =>
    (['environment', '.env'] as const).map((key) => ({ address, key })),
  );

  test.each(cases)('of the $key with an address of the $address', async ({ address, key }) => {
    const givens = [
      { place: address, name, value: EXAMPLES[name] },
      { place: key, name: variable, value: 'the-key' },
    ];
    const isProjectAddress = address === 'project file' || address === '.env';
    const trusted = await place(givens, true);
    if (isProjectAddress && !(address === '.env' && key === '.env')) {
      expect(() => keyOf(trusted())?.reveal()).toThrow(
        expect.objectContaining({
          kind: 'configuration_error',
          message: expect.stringContaining(variable),
          hint: expect.stringContaining(variableOf(name) ?? ''),
        }),
      );
    } else {
      expect(keyOf(trusted())?.reveal()).toBe('the-key');
    }
    await writeFile(join(home, 'citeloop', 'trust.json'), '{}');
    if (isProjectAddress)
      expect(() => trusted()).toThrow(expect.objectContaining({ name: 'UntrustedFilesError' }));
    else if (key === '.env') expect(() => keyOf(trusted())?.reveal()).toThrow(untrusted(variable));
    else expect(keyOf(trusted())?.reveal()).toBe('the-key');
  });
});

test.each(SERVICES.filter(({ own }) => own !== null))(
  '$variable of the environment goes to its own service, whoever names that',
  async ({ name, variable, own, keyOf }) => {
    for (const where of ['project file', '.env'] as const) {
      const address = { place: where, name, value: `${own}/` };
      const load = await place([address, { place: 'environment', name: variable, value: 'the-key' }], true);
      expect(keyOf(load())?.reveal()).toBe('the-key');
    }
  },
);

test('a key beside the address in .env is used instead of that of the environment', async () => {
  const load = await place(
    [
      { place: '.env', name: 'baseUrl', value: 'http://model.test/v1' },
      { place: '.env', name: 'OPENAI_API_KEY', value: 'of-the-project' },
      { place: 'environment', name: 'OPENAI_API_KEY', value: 'mine' },
    ],
    true,
  );
  expect(load().modelService.key?.reveal()).toBe('of-the-project');
  expect(
    load()
      .secrets.map((secret) => secret.reveal())
      .sort(),
  ).toEqual(['mine', 'of-the-project']);
});

test('headers for the OpenAI client are not sent to an address of a project either', async () => {
  const load = await place([{ place: '.env', name: 'baseUrl', value: 'http://model.test/v1' }], true);
  const env = { XDG_CONFIG_HOME: home, OPENAI_CUSTOM_HEADERS: 'x-key: secret' };
  expect(load().modelService.key).toBeUndefined();
  expect(() => load({ env }).modelService.key?.reveal()).toThrow('OPENAI_CUSTOM_HEADERS');
});

test('a provider of a project uses its own key, and never an address or key of the user', async () => {
  const keys = [
    { place: 'environment', name: 'OPENAI_API_KEY', value: 'openai' },
    { place: 'environment', name: 'GROQ_API_KEY', value: 'groq' },
  ] as const;
  const provider = { place: 'project file', name: 'provider', value: 'groq' } as const;
  const service = (load: () => ReturnType<typeof loadConfig>) => {
    const { baseUrl, key } = load().modelService;
    return [baseUrl, key?.reveal()];
  };
  expect(service(await place([...keys, provider], false))).toEqual([
    'https://api.groq.com/openai/v1',
    'groq',
  ]);
  for (const where of ['user file', 'environment', 'flag'] as const) {
    const address = { place: where, name: 'baseUrl', value: 'http://mine.test/v1' } as const;
    expect(service(await place([...keys, provider, address], false))).toEqual([
      'http://mine.test/v1',
      'openai',
    ]);
  }
  const both = await place(
    [...keys, provider, { ...provider, name: 'baseUrl', value: 'http://evil.test/' }],
    true,
  );
  expect(() => service(both)).toThrow('GROQ_API_KEY');
});

test('an overridden setting needs no trust', async () => {
  const load = await place(
    [
      { place: 'project file', name: 'qdrantUrl', value: 'http://evil.test' },
      { place: '.env', name: 'qdrantUrl', value: 'http://evil.test' },
      { place: 'flag', name: 'qdrantUrl', value: 'http://mine.test' },
    ],
    false,
  );
  expect(load().qdrant.url).toBe('http://mine.test');
  expect(() => load({ flags: {} })).toThrow(expect.objectContaining({ name: 'UntrustedFilesError' }));
});

test('an address of a tape gets only the key of its own service, unless the user gave the same address', async () => {
  const keys = { OPENAI_API_KEY: 'openai', GROQ_API_KEY: 'groq', QDRANT_API_KEY: 'qdrant' };
  const load = (baseUrl: string, given: Record<string, string> = {}) => {
    const tape = { path: '/run.json', fields: { baseUrl, qdrantUrl: baseUrl, ofAnotherVersion: 1 } };
    return loadConfig({ env: { XDG_CONFIG_HOME: home, ...keys, ...given }, cwd, tape });
  };
  const { modelService, qdrant, modelServiceAt } = load('http://127.0.0.1:9977/v1');
  expect(modelService.baseUrl).toBe('http://127.0.0.1:9977/v1');
  for (const service of [modelService, qdrant, modelServiceAt('http://127.0.0.1:9978/v1')])
    expect(() => service.key?.reveal()).toThrow('/run.json');
  expect(load('https://api.groq.com/openai/v1').modelService.key?.reveal()).toBe('groq');
  expect(() => load('https://openrouter.ai/api/v1').modelService.key?.reveal()).not.toThrow();
  const mine = load('http://127.0.0.1:9977/v2', { OPENAI_BASE_URL: 'http://127.0.0.1:9977/v1' });
  expect(mine.modelService).toMatchObject({ baseUrl: 'http://127.0.0.1:9977/v2' });
  expect(mine.modelService.key?.reveal()).toBe('openai');
});

test('a link to a device, a pipe or a directory in place of a project file is an error', async () => {
  const refused = expect.objectContaining({ kind: 'configuration_error' });
  await symlink('/dev/zero', join(cwd, 'citeloop.config.json'));
  expect(() => loadConfig({ env: { HOME: home }, cwd })).toThrow(refused);
  const other = await createTemporaryDirectory();
  execFileSync('mkfifo', [join(other, '.env')]);
  expect(() => loadConfig({ env: { HOME: home }, cwd: other })).toThrow(refused);
  await mkdir(join(home, '.env'));
  expect(() => loadConfig({ env: { HOME: home }, cwd: home })).toThrow(refused);
});

test('other variables in .env have no effect', async () => {
  const names = ['HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'HTTP_PROXY', 'NODE_OPTIONS'];
  await writeFile(join(cwd, '.env'), names.map((name) => `${name}=/evil\n`).join(''));
  const env = { HOME: home };
  const { home: data, cache, settingsFile, untrusted: ignored } = loadConfig({ env, cwd });
  expect([data, cache, settingsFile].every((path) => path.startsWith(home))).toBe(true);
  expect(ignored).toEqual([]);
  expect(process.env.HTTP_PROXY).not.toBe('/evil');
});

test('trust ends with a change, and holds for a directory by any path but not for a copy of it', async () => {
  const given = { place: 'project file', name: 'home', value: 'data' } as const;
  const load = await place([given], true);
  expect(load().home).toBe(join(cwd, 'data'));
  const link = `${cwd}-link`;
  await symlink(cwd, link);
  expect(load({ cwd: link }).home).toBe(join(link, 'data'));

  const file = join(cwd, 'citeloop.config.json');
  const refused = expect.objectContaining({ name: 'UntrustedFilesError' });
  await writeFile(file, '{"home": "data" }');
  expect(() => load()).toThrow(refused);
  await writeFile(file, '{"home":"data"}');
  expect(load().home).toBe(join(cwd, 'data'));

  const other = await createTemporaryDirectory();
  await writeFile(join(other, 'citeloop.config.json'), '{"home":"data"}');
  expect(() => load({ cwd: other })).toThrow(refused);
  // A link to a trusted file is another file.
  await symlink(file, join(other, 'linked.json'));
  expect(() => load({ cwd: other, configPath: 'linked.json' })).toThrow(refused);
  // Files of parent directories are not read.
  await mkdir(join(cwd, 'below'));
  expect(load({ cwd: join(cwd, 'below') }).given).toEqual({});
});
