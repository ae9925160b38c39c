import { createRedactor, MASK } from './redactor.ts';

/** A sentence loses little by these, where a tape would lose hashes and ids. */
const KEY_LIKE = [
  /\b(?:sk|gsk|csk|co|pk|rk|xai|hf|nvapi|pplx|r8|fw|sess)[-_][\w*.-]{6,}/g,
  /(?<=\bBearer\s+)[^\s"',}[]+/gi,
  /(?<=\b(?:api[-_ ]?key|token|password|secret)["']?\s*[:=]\s*["']?)[^\s"',}[]+/gi,
  // What a service has masked itself still shows the ends.
  /[\w-]*\*{3,}[\w-]*/g,
  /\b[\w-]{40,}/g,
];

/** Shorter values are placeholders, and might be part of any word. */
const SHORTEST_KEY = 4;

/**
 * A text of others for a sentence that people read: without the configured keys, whichever service they are for,
 * and without anything that looks like a key.
 */
export function redactKeys(text: string, secrets: readonly (string | undefined)[] = []): string {
  const known = secrets.filter((secret) => secret !== undefined && secret.length >= SHORTEST_KEY) as string[];
  const short = known.reduce((redacted, secret) => redacted.replaceAll(secret, MASK), text);
  const safe = createRedactor({ secrets: known }).text(short);
  return KEY_LIKE.reduce((redacted, pattern) => redacted.replace(pattern, MASK), safe);
}
