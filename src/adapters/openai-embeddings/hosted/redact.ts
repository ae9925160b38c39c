const MASK = '[secret]';

const KEY_LIKE = [
  /\b(?:sk|pk|gsk|co|hf|nvapi|pplx)[-_][\w*.-]{6,}/g,
  /(?<=\bBearer\s+)[^\s"',}]+/gi,
  // What a service has masked itself still shows the ends.
  /[\w-]*\*{3,}[\w-]*/g,
  /\b[\w-]{40,}/g,
];

/** A text of others without anything that is or looks like a key. */
export function redact(text: string, apiKey: string | undefined): string {
  const known = apiKey !== undefined && apiKey.length >= 4 ? text.replaceAll(apiKey, MASK) : text;
  return KEY_LIKE.reduce((redacted, pattern) => redacted.replace(pattern, MASK), known);
}
