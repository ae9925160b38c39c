/** What can be chosen from, apart from the schemas: `--help` lists it without loading them. */
export const POLICIES = ['tool', 'always', 'first', 'never'] as const;
export const TOOL_NAMES = ['search_docs', 'retrieve_context'] as const;
export const APIS = ['responses', 'chat_completions'] as const;
export const SEARCH_MODES = ['hybrid', 'dense', 'lexical'] as const;
export const PROVIDERS = ['openai', 'groq', 'openrouter', 'ollama'] as const;
export const STORES = ['sqlite', 'qdrant'] as const;
export const QUANTIZATIONS = ['none', 'int8'] as const;
export const EMBEDDERS = ['minilm', 'openai', 'cohere'] as const;
