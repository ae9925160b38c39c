const MASK = '[secret]';

const KEY_LIKE = [
  /\b(?:sk|gsk|csk|co|pk|rk|xai|hf|nvapi|pplx|r8|fw|sess)[-_][\w*.-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /(?<=\bBearer\s+)[^\s"',}]+/gi,
  /(?<=\b(?:api[-_ ]?key|token|password|secret)["']?\s*[:=]\s*["']?)[^\s"',}[]+/gi,
  // What a service has masked itself still shows the ends.
  /[\w-]*\*{3,}[\w-]*/g,
  /\b[\w-]{40,}/g,
];

/** A text of others without anything that is or looks like a key. */
export function redactKeys(text: string, apiKey?: string): string {
  const known = apiKey !== undefined && apiKey.length >= 4 ? text.replaceAll(apiKey, MASK) : text;
  return KEY_LIKE.reduce((redacted, pattern) => redacted.replace(pattern, MASK), known);
}
