import type { Api } from '../domain/agent-config.ts';
import type { PROVIDERS } from '../domain/choices.ts';
import type { SecretVariable } from './environment.ts';

/** What a provider's name stands for. `keyVariable` is where its users keep the key. */
export interface ProviderPreset {
  baseUrl: string;
  api: Api;
  keyVariable: SecretVariable;
  needsKey: boolean;
}

export type ProviderName = (typeof PROVIDERS)[number];

export const providerPresets: Readonly<Record<ProviderName, ProviderPreset>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    api: 'responses',
    keyVariable: 'OPENAI_API_KEY',
    needsKey: true,
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    api: 'chat_completions',
    keyVariable: 'GROQ_API_KEY',
    needsKey: true,
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    api: 'chat_completions',
    keyVariable: 'OPENROUTER_API_KEY',
    needsKey: true,
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    api: 'chat_completions',
    keyVariable: 'OLLAMA_API_KEY',
    needsKey: false,
  },
};
