/** Services refuse a blank text, which must still have a vector. */
const BLANK = '.';

/** A text as every service takes it: whole characters, no NUL, not blank. */
export function sendableText(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', ' ');
  return clean.trim() === '' ? BLANK : clean;
}
