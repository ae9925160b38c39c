import { coverageLine } from '../domain/coverage.ts';
import type { CollectionInfo } from '../ports/chunk-store.ts';

const MAX_SUBJECTS = 12;

/** The system prompt with what the collection covers, so that a model knows when a search is worth it. */
export function instructionsFor(systemPrompt: string, subjects: readonly string[]): string {
  return subjects.length === 0 ? systemPrompt : `${systemPrompt}\n\n${coverageLine(subjects)}`;
}

/** What a collection is about, in few words: its modules, or else the titles of some documents. */
export function subjectsOf(info: Pick<CollectionInfo, 'modules'>, titles: readonly string[]): string[] {
  const subjects = info.modules.length > 1 ? info.modules.map(({ name }) => name) : [...new Set(titles)];
  const shown = subjects.slice(0, MAX_SUBJECTS);
  return subjects.length > shown.length ? [...shown, `${subjects.length - shown.length} more`] : shown;
}
