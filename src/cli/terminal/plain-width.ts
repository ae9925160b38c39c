import { stripVTControlCharacters } from 'node:util';

/** The width of text without wide characters. Replaces `string-width` in the bundle (decisions/0006). */
export default function plainWidth(text: string): number {
  return stripVTControlCharacters(text).length;
}
