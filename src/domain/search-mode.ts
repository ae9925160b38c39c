import type { SEARCH_MODES } from './choices.ts';

/** How chunks are found: by words and meaning, by meaning, or by words alone. */
export type SearchMode = (typeof SEARCH_MODES)[number];
