/** What can be chosen from, apart from the schemas: `--help` lists it without loading them. */
export const POLICIES = ['tool', 'always', 'first', 'never'] as const;
export const TOOL_NAMES = ['search_docs', 'retrieve_context'] as const;
export const APIS = ['responses', 'chat_completions'] as const;
export const SEARCH_MODES = ['hybrid', 'dense', 'lexical'] as const;
