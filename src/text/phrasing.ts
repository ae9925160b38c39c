/** 1 case, 2 cases; where the plural is not made by an s it is given. */
export function counted(count: number, thing: string, things = `${thing}s`): string {
  return `${count} ${count === 1 ? thing : things}`;
}

/** A name inside a sentence, so that “never” is not read as a word of it. */
export function quoted(name: string): string {
  return `“${name}”`;
}
