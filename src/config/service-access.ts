import type { ModelApi } from '../domain/agent-config.ts';
import type { MODEL_PROVIDERS } from '../domain/setting-choices.ts';
import type { GivenSettings } from './collect-settings.ts';
import type { Secret } from './secret.ts';
import type { SecretVariable } from './settings.ts';

interface ProviderPreset extends Omit<ServiceAccess, 'key'> {
  api: ModelApi;
}

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

type SecretOf = (variable: SecretVariable) => Secret | undefined;

/** The service of the model. --base-url overrides the provider unless the provider has a stronger source. */
export function resolveModelService(
  given: GivenSettings,
  secretOf: SecretOf,
): ServiceAccess & { api: ModelApi } {
  const named = given.provider && providerPresets[given.provider.value as ProviderName];
  const address = given.baseUrl;
  if (address === undefined || (named && given.provider && given.provider.strength > address.strength)) {
    const preset = named ?? providerPresets.openai;
    return { ...accessOf(preset, preset.keyVariable, secretOf), api: preset.api };
  }
  const baseUrl = String(address.value);
  const preset = named ?? presetAt(baseUrl);
  // Users of other servers mostly set the variable of the OpenAI client.
  const own = preset?.keyVariable ?? 'OPENAI_API_KEY';
  const keyVariable = named || secretOf(own) ? own : 'OPENAI_API_KEY';
  const api = presetAt(baseUrl)?.api ?? 'chat_completions';
  return { ...accessOf({ baseUrl, needsKey: preset?.needsKey ?? false }, keyVariable, secretOf), api };
}

/** The service for embeddings: that of the model unless another is given. A key is sent only to its own service. */
export function resolveEmbeddingService(
  given: GivenSettings,
  model: ServiceAccess,
  secretOf: SecretOf,
): ServiceAccess {
  const baseUrl = given.embeddingBaseUrl ? String(given.embeddingBaseUrl.value) : model.baseUrl;
  const needsKey = presetAt(baseUrl)?.needsKey ?? false;
  if (secretOf('EMBEDDING_API_KEY') === undefined) {
    if (sameOrigin(baseUrl, model.baseUrl)) return { ...model, baseUrl };
    const preset = presetAt(baseUrl);
    if (preset && preset.keyVariable !== model.keyVariable) {
      return accessOf({ baseUrl, needsKey }, preset.keyVariable, secretOf);
    }
  }
  return accessOf({ baseUrl, needsKey }, 'EMBEDDING_API_KEY', secretOf);
}

function accessOf(
  { baseUrl, needsKey }: Pick<ProviderPreset, 'baseUrl' | 'needsKey'>,
  keyVariable: SecretVariable,
  secretOf: SecretOf,
): ServiceAccess {
  return { baseUrl, needsKey, keyVariable, key: secretOf(keyVariable) };
}

function presetAt(baseUrl: string): ProviderPreset | undefined {
  return Object.values(providerPresets).find((preset) => sameOrigin(preset.baseUrl, baseUrl));
}

export function sameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}
