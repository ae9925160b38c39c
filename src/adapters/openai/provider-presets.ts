/** What a provider's name stands for. `keyVariable` is where its users keep the key. */
export interface ProviderPreset {
  baseUrl: string;
  api: 'responses' | 'chat_completions';
  keyVariable: string;
  needsKey: boolean;
}

export const providerPresets = {
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
} as const satisfies Record<string, ProviderPreset>;

export type ProviderName = keyof typeof providerPresets;
