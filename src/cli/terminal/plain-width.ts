import { stripVTControlCharacters } from 'node:util';

/** The width of a text without wide characters. Stands in for `string-width` in the bundle (see scripts/build.ts). */
export default function plainWidth(text: string): number {
  return stripVTControlCharacters(text).length;
}
