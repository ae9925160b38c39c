/** How chunks are found: by words and meaning, by meaning, or by words alone. */
export const SEARCH_MODES = ['hybrid', 'dense', 'lexical'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];
