import { replaceRanges } from '../text/markdown-blocks.ts';
import { advice, settingValue } from './advice.ts';
import { AppError } from './app-error.ts';

/** Replaces every secret in messages, settings, traces and tapes; always the same, so that a replay matches. */
export const REDACTED = '[redacted]';

/** Names of fields and parameters whose values are secrets. */
const NAMES =
  'x[-_]?api[-_]?key|api[-_]?key|apikey|authorization|proxy[-_]authorization|access[-_]token|refresh[-_]token|id[-_]token|client[-_]secret|secret[-_]key|password|passwd|set[-_]cookie|cookie|organization[-_]id|org[-_]id|openai[-_]organization|openai[-_]project';

const SECRET_FIELD = new RegExp(`^(?:${NAMES})$`, 'i');
/** URLs also use short names. */
export const SECRET_PARAMETER = new RegExp(`^(?:${NAMES}|key|token|sig|signature|auth)$`, 'i');

/** Match keys and organisation ids inside a text; the secret is the group, or the whole match without one. */
const KEY_PATTERNS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter, Stripe; then Groq, Hugging Face, GitHub, GitLab; xAI, NVIDIA, Perplexity, Slack.
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\b(?:gsk|hf|gh[opsur]|glpat|github_pat)[-_][A-Za-z0-9_]{16,}/g,
  /\b(?:xai|nvapi|pplx|csk|xox[abpr])-[A-Za-z0-9_-]{16,}/g,
  // npm, PyPI, Docker.
  /\b(?:npm_|pypi-|dckr_pat_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\borg-[A-Za-z0-9]{16,}\b/g,
  /\bproj_[A-Za-z0-9]{16,}\b/g,
  /\b(?:Bearer|bearer|BEARER|Basic|basic)\s+([A-Za-z0-9._~+/=-]{8,})/g,
  // JSON fields inside a text; their quotes may be escaped several times.
  new RegExp(`"(?:${NAMES})\\\\*"\\s*:\\s*\\\\*"([^"\\\\]+)`, 'gi'),
  // Parameters inside a text.
  new RegExp(`[?&](?:${NAMES}|key|token|sig|signature)=([^&#\\s"'\\\\]+)`, 'gi'),
  // https://user:password@host
  /\bhttps?:\/\/([^\s/@:"'\\]+:[^\s/@"'\\]+)@/g,
];

/** PEM private keys: whole, or cut off at either end. */
const PEM_MARK = 'PRIVATE KEY';
const PEM_PATTERNS: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,16384}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=:,\s-]|\\+[nr])*)/g,
  /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{40,80}(?:\s|\\+[nr])+){1,60}(?:[A-Za-z0-9+/=]{1,80}(?:\s|\\+[nr])+)?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/g,
];

/** Shorter values, such as the key "none" of a local server, occur in texts by chance. */
const SHORTEST_SECRET = 8;

const JSON_LEVELS = 4;

interface RedactorOptions {
  /** Configured keys; they are removed in every encoding. */
  secrets?: readonly string[];
  /** Regular expressions of the user. */
  patterns?: readonly string[];
}

export type RedactedRange = [start: number, end: number];

export interface Redactor {
  /** The ranges to remove from a text, sorted and disjoint. */
  ranges(text: string): RedactedRange[];
  text(text: string): string;
  /** Redacts keys, texts and numbers of a JSON value, and fields whose name says that they hold a secret. */
  value<T>(value: T): T;
  /** Overwrites secrets in binary data; the length stays. */
  bytes(bytes: Uint8Array): Uint8Array;
  /** Whether a text contains one of the given secrets; ignores patterns. */
  holdsSecret(text: string): boolean;
}

/** Throws `invalid_input` for a pattern that is not a regular expression. */
export function createRedactor({ secrets = [], patterns = [] }: RedactorOptions = {}): Redactor {
  const exact = exactPattern(secrets);
  const all = [...(exact ? [exact] : []), ...patterns.map(userPattern), ...KEY_PATTERNS];

  function ranges(text: string): RedactedRange[] {
    const found: RedactedRange[] = [];
    // The PEM patterns are slow on base64.
    for (const pattern of text.includes(PEM_MARK) ? [...all, ...PEM_PATTERNS] : all) {
      for (const match of text.matchAll(pattern)) {
        const [whole, secret = whole] = match;
        const start = match.index + whole.lastIndexOf(secret);
        if (secret !== '') found.push([start, start + secret.length]);
      }
    }
    return merged(found);
  }

  function redactText(text: string): string {
    return replaceRanges(
      text,
      ranges(text).map(([start, end]) => ({ start, end, text: REDACTED })),
    );
  }

  function redactValue(value: unknown): unknown {
    if (typeof value === 'string') return redactText(value);
    if (typeof value === 'number') return ranges(String(value)).length > 0 ? REDACTED : value;
    if (Array.isArray(value)) return value.map(redactValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        redactText(key),
        SECRET_FIELD.test(key) && each !== null ? REDACTED : redactValue(each),
      ]),
    );
  }

  return {
    ranges,
    text: redactText,
    value: <T>(value: T) => redactValue(value) as T,
    bytes(bytes) {
      const text = Buffer.from(bytes).toString('latin1');
      const found = exact === null ? [] : Array.from(text.matchAll(exact));
      if (found.length === 0) return bytes;
      const copy = Buffer.from(bytes);
      for (const { 0: match, index } of found) copy.fill('x', index, index + match.length);
      return copy;
    },
    holdsSecret: (text) => exact !== null && text.search(exact) >= 0,
  };
}

function exactPattern(secrets: readonly string[]): RegExp | null {
  const variants = [...new Set(secrets.flatMap(secretVariants))].sort((a, b) => b.length - a.length);
  return variants.length === 0 ? null : new RegExp(variants.map(escaped).join('|'), 'gi');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function userPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'g');
  } catch (error) {
    throw new AppError('invalid_input', `The pattern ${pattern} is not a regular expression.`, {
      hint: advice`Write it as in JavaScript, for example ${settingValue('redact', '"ACME-\\d+"', '"ACME-\\d+"')}.`,
      cause: error,
    });
  }
}

function merged(ranges: RedactedRange[]): RedactedRange[] {
  const result: RedactedRange[] = [];
  for (const range of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else result.push(range);
  }
  return result;
}

/** The secret as plain text, escaped in JSON and URLs, in base64 and in hex. */
function secretVariants(secret: string): string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const bytes = Buffer.from(secret);
  const inUrl = encodeURIComponent(secret);
  const plain = [secret, inUrl, lowerHex(inUrl), encodeURIComponent(inUrl), inUrl.replaceAll('%20', '+')];
  // Other encoders also escape characters that encodeURIComponent leaves alone.
  plain.push(inUrl.replace(/[!'()*~._-]/g, percent), lowerHex(inUrl.replace(/[!'()*]/g, percent)));
  plain.push(encodeURI(secret));
  const encoded = [bytes.toString('hex'), bytes.toString('hex').toUpperCase()];
  for (let shift = 0; shift < 3; shift += 1) {
    const base64 = base64Inside(bytes, shift);
    encoded.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  const variants = new Set([...plain.flatMap(escapedInJson), ...encoded.flatMap(escapedInJson)]);
  return [...variants].filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
}

function escapedInJson(text: string): string[] {
  const levels = [text];
  for (let level = 0; level < JSON_LEVELS; level += 1) {
    levels.push(JSON.stringify(levels.at(-1)).slice(1, -1));
  }
  return [
    ...levels,
    text.replaceAll('/', '\\/'),
    asciiOnly(text),
    asciiOnly(JSON.stringify(text).slice(1, -1)),
  ];
}

/** The base64 digits that do not depend on the bytes around; `shift` is the offset in a group of three bytes. */
function base64Inside(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const foreignAtStart = [0, 2, 3][shift] ?? 0;
  const foreignAtEnd = (bytes.length + shift) % 3 === 0 ? 0 : 1;
  return text.slice(foreignAtStart, text.length - foreignAtEnd);
}

function lowerHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function asciiOnly(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** In a message these may be masked too; in a tape they would remove hashes and ids. */
const KEY_LIKE = [
  /\b(?:sk|gsk|csk|co|pk|rk|xai|hf|nvapi|pplx|r8|fw|sess)[-_][\w*.-]{6,}/g,
  /(?<=\bBearer\s+)[^\s"',}[]+/gi,
  /(?<=\b(?:api[-_ ]?key|token|password|secret)["']?\s*[:=]\s*["']?)[^\s"',}[]+/gi,
  // Keys that a service has masked still show their ends.
  /[\w-]*\*{3,}[\w-]*/g,
  /\b[\w-]{40,}/g,
];

/** Shorter values are placeholders and may be part of any word. */
const SHORTEST_KEY = 4;

/** Removes the configured keys, and anything that looks like a key, from a text that is shown to a person. */
export function redactKeys(text: string, secrets: readonly (string | undefined)[] = []): string {
  const known = secrets.filter((secret) => secret !== undefined && secret.length >= SHORTEST_KEY) as string[];
  const short = known.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text);
  const safe = createRedactor({ secrets: known }).text(short);
  return KEY_LIKE.reduce((redacted, pattern) => redacted.replace(pattern, REDACTED), safe);
}
