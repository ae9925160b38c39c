import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

declare const CITELOOP_VERSION: string | undefined;

/** The version of the package; set when it is bundled. */
export const version: string = typeof CITELOOP_VERSION === 'undefined' ? '0.0.0-source' : CITELOOP_VERSION;

/** Where the built chat page lies. This file stands directly in `src`, and its code in `dist`: one up is the package. */
export function pageDirectory(): string {
  return fileURLToPath(new URL('../dist/page', import.meta.url));
}

/** Where the built page of the report lies: the script and the styles that every report carries. */
export function reportDirectory(): string {
  return fileURLToPath(new URL('../dist/report', import.meta.url));
}

/** The directory of the sample book that comes with the program; null where it was left out. */
export function sampleBook(): string | null {
  const directory = fileURLToPath(new URL('../fixtures/book', import.meta.url));
  return existsSync(directory) ? directory : null;
}
