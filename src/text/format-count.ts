/** "1 case" or "2 cases". */
export function formatCount(count: number, thing: string, things = `${thing}s`): string {
  return `${count} ${count === 1 ? thing : things}`;
}

/** A name in quotation marks, so that it is not read as a word of the sentence. */
export function quoteName(name: string): string {
  return `“${name}”`;
}
