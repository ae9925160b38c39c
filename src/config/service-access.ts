import type { ModelApi } from '../domain/agent-config.ts';
import type { MODEL_PROVIDERS } from '../domain/setting-choices.ts';
import { AppError } from '../faults/app-error.ts';
import type { GivenSetting, GivenSettings, SettingsFile, Variables } from './collect-settings.ts';
import { httpUrlSchema, parseValue, sameOrigin } from './parse-value.ts';
import { createRefusedSecret, createSecret, type Secret } from './secret.ts';
import { type SecretVariable, secretVariables, settingVariables } from './settings.ts';
import { UntrustedFilesError } from './trust.ts';

interface ProviderPreset extends Omit<ServiceAccess, 'key'> {
  api: ModelApi;
}

/** The address of Cohere. */
export const COHERE_URL = 'https://api.cohere.com';

type ProviderName = (typeof MODEL_PROVIDERS)[number];

export const providerPresets: Readonly<Record<ProviderName, ProviderPreset>> = {
  openai: preset('https://api.openai.com/v1', 'OPENAI_API_KEY', { api: 'responses' }),
  groq: preset('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  openrouter: preset('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  ollama: preset('http://127.0.0.1:11434/v1', 'OLLAMA_API_KEY', { needsKey: false }),
};

function preset(
  baseUrl: string,
  keyVariable: SecretVariable,
  { api = 'chat_completions', needsKey = true }: Partial<ProviderPreset> = {},
): ProviderPreset {
  return { baseUrl, api, keyVariable, needsKey };
}

export interface ServiceAccess {
  readonly baseUrl: string;
  readonly keyVariable: SecretVariable;
  readonly key: Secret | undefined;
  /** Whether it is known to require a key. */
  readonly needsKey: boolean;
}

/** The key of a variable for the service at an address, which is the default one unless given. */
type KeyFor = (variable: SecretVariable, address: GivenSetting | undefined) => Secret | undefined;

/** The service of the model. --base-url overrides the provider unless the provider has a stronger source. */
export function resolveModelService(given: GivenSettings, keyFor: KeyFor): ServiceAccess & { api: ModelApi } {
  const address = given.baseUrl;
  // A project's provider neither replaces an address of the user nor chooses the key for it.
  const isIgnored = given.provider?.file?.project && address && !address.file?.project;
  const provider = isIgnored ? undefined : given.provider;
  const named = provider && providerPresets[provider.value as ProviderName];
  if (address === undefined || (named && provider.strength > address.strength)) {
    const { api, ...preset } = named ?? providerPresets.openai;
    return { ...preset, api, key: keyFor(preset.keyVariable, undefined) };
  }
  const baseUrl = String(address.value);
  const preset = named ?? presetAt(baseUrl);
  // Users of other servers mostly set the variable of the OpenAI client.
  const own = preset?.keyVariable ?? 'OPENAI_API_KEY';
  const keyVariable = named || address.file?.project || keyFor(own, address) ? own : 'OPENAI_API_KEY';
  const api = presetAt(baseUrl)?.api ?? 'chat_completions';
  const needsKey = preset?.needsKey ?? false;
  return { baseUrl, needsKey, keyVariable, key: keyFor(keyVariable, address), api };
}

/** The service for embeddings: that of the model unless another is given. A key is sent only to its own service. */
export function resolveEmbeddingService(
  given: GivenSettings,
  model: ServiceAccess,
  keyFor: KeyFor,
): ServiceAccess {
  const modelAddress = given.baseUrl?.value === model.baseUrl ? given.baseUrl : undefined;
  const address = given.embeddingBaseUrl ?? modelAddress;
  const baseUrl = String(given.embeddingBaseUrl?.value ?? model.baseUrl);
  const needsKey = presetAt(baseUrl)?.needsKey ?? false;
  let keyVariable: SecretVariable = 'EMBEDDING_API_KEY';
  if (keyFor(keyVariable, address) === undefined) {
    if (sameOrigin(baseUrl, model.baseUrl)) return { ...model, baseUrl };
    const preset = presetAt(baseUrl);
    if (preset && preset.keyVariable !== model.keyVariable) keyVariable = preset.keyVariable;
  }
  return { baseUrl, needsKey, keyVariable, key: keyFor(keyVariable, address) };
}

/**
 * A key goes to the service that gives it out, or to an address that the user gave. An address in a project file gets
 * only a key of the same file, and only `.env` can hold one. `dotEnv` may be untrusted.
 */
export function createKeyLookup(
  env: Variables,
  dotEnv: SettingsFile | undefined,
  isTrusted: (file: SettingsFile) => boolean,
): KeyFor {
  return (variable, address) => {
    const inFile = textOf(dotEnv?.fields[variable]);
    // An empty variable is unset, and still overrides the one in `.env`.
    const value = env[variable] === undefined ? inFile : textOf(env[variable]);
    if (address?.file?.project && !isOwnAddress(variable, String(address.value))) {
      const refuse = (name: string) => createRefusedSecret(foreignAddressError(name, address));
      // The OpenAI client sends these to every address, and they may contain a key.
      if (address.name === 'baseUrl' && env.OPENAI_CUSTOM_HEADERS) return refuse('OPENAI_CUSTOM_HEADERS');
      if (value === '') return undefined;
      return address.file === dotEnv && inFile !== '' ? createSecret(inFile) : refuse(variable);
    }
    if (value === '') return undefined;
    const file = env[variable] === undefined ? dotEnv : undefined;
    if (file?.project === undefined || isTrusted(file)) return createSecret(value);
    return createRefusedSecret(new UntrustedFilesError([file.project]));
  };
}

function isOwnAddress(variable: SecretVariable, baseUrl: string): boolean {
  if (variable === 'COHERE_API_KEY') return sameOrigin(baseUrl, COHERE_URL);
  return presetAt(baseUrl)?.keyVariable === variable;
}

function foreignAddressError(variable: string, { name, value, origin }: GivenSetting): AppError {
  const place = Object.entries(settingVariables).find(([, setting]) => setting === name)?.[0];
  return new AppError(
    'configuration_error',
    `${variable} is not sent to ${new URL(String(value)).origin}: a project file or tape names that address (${origin}).`,
    {
      hint: `Give the address yourself: set ${place} in the environment, or run "citeloop config set ${name} <url>". A key and an address in .env belong together. To send no key, set ${variable} to nothing.`,
    },
  );
}

/** The hub that encoders are downloaded from. Only the environment names it and its token, never a project file. */
export function resolveHub(env: Variables) {
  const token = textOf(env.HF_TOKEN);
  const given = textOf(env.HF_ENDPOINT).replace(/\/+$/, '') || 'https://huggingface.co';
  const endpoint = parseValue(httpUrlSchema, given, { subject: 'HF_ENDPOINT', kind: 'configuration_error' });
  return { endpoint, token: token === '' ? undefined : createSecret(token) };
}

/** Every key, also those that are not used. */
export function listSecrets(...sources: Readonly<Record<string, unknown>>[]): readonly Secret[] {
  const values = sources.flatMap((variables) =>
    [...Object.keys(secretVariables), 'HF_TOKEN'].map((variable) => textOf(variables[variable])),
  );
  return Object.freeze([...new Set(values)].filter((value) => value !== '').map(createSecret));
}

function textOf(value: unknown): string {
  return String(value ?? '').trim();
}

/** The provider at an address; for an unknown one `openai`, whose API it has. */
export function providerAt(baseUrl: string): string {
  const found = Object.entries(providerPresets).find(([, preset]) => sameOrigin(preset.baseUrl, baseUrl));
  return found?.[0] ?? 'openai';
}

function presetAt(baseUrl: string): ProviderPreset | undefined {
  return Object.values(providerPresets).find((preset) => sameOrigin(preset.baseUrl, baseUrl));
}
