import { fileURLToPath } from 'node:url';

/** Where the built page lies; from the sources and from the bundle it is the same place. */
export function pageDirectory(): string {
  return fileURLToPath(new URL('../dist/page', import.meta.url));
}
