import { coverageLine } from '../domain/coverage.ts';
import type { CollectionInfo } from '../ports/chunk-store.ts';

const MAX_SUBJECTS = 8;

/** The system prompt with what the collection covers, so that a model knows when a search is worth it. */
export function instructionsFor(systemPrompt: string, subjects: readonly string[]): string {
  return subjects.length === 0 ? systemPrompt : `${systemPrompt}\n\n${coverageLine(subjects)}`;
}

/** Whether the modules of a collection say what it is about: there are several, and nearly all of it is in them. */
export function hasTellingModules({ modules, chunks }: Pick<CollectionInfo, 'modules' | 'chunks'>): boolean {
  return modules.length > 1 && modules.reduce((sum, module) => sum + module.chunks, 0) >= 0.9 * chunks;
}

/** What a collection is about, in few words: its modules, or else the titles of some documents. */
export function subjectsOf(
  info: Pick<CollectionInfo, 'modules' | 'chunks'>,
  titles: readonly string[],
): string[] {
  const subjects = hasTellingModules(info) ? info.modules.map(({ name }) => name) : [...new Set(titles)];
  const shown = subjects.slice(0, MAX_SUBJECTS);
  return subjects.length > shown.length ? [...shown, `${subjects.length - shown.length} more`] : shown;
}
