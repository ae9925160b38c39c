import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

declare const CITELOOP_VERSION: string | undefined;

/** The package version, set when it is built. */
export const version: string = typeof CITELOOP_VERSION === 'undefined' ? '0.0.0-source' : CITELOOP_VERSION;

/** The built chat page. Relative to this file in `src` and to its bundle in `dist` alike. */
export function pageDirectory(): string {
  return fileURLToPath(new URL('../dist/page', import.meta.url));
}

/** The built report page: the script and styles that every report embeds. */
export function reportDirectory(): string {
  return fileURLToPath(new URL('../dist/report', import.meta.url));
}

/** The directory of the sample book; null if the package has none. */
export function sampleBookDirectory(): string | null {
  const directory = fileURLToPath(new URL('../fixtures/book', import.meta.url));
  return existsSync(directory) ? directory : null;
}
