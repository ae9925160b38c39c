import { advice, settingOf } from './advice.ts';
import { AppError } from './app-error.ts';

/** What stands for a secret wherever one was: in messages, settings, traces and tapes, so that a replay says the same. */
export const MASK = '[redacted]';

/** Names of fields and parameters whose values are secrets, whoever uses them. */
const NAMES =
  'x[-_]?api[-_]?key|api[-_]?key|apikey|authorization|proxy[-_]authorization|access[-_]token|refresh[-_]token|id[-_]token|client[-_]secret|secret[-_]key|password|passwd|set[-_]cookie|cookie|organization[-_]id|org[-_]id|openai[-_]organization|openai[-_]project';

const SECRET_FIELD = new RegExp(`^(?:${NAMES})$`, 'i');
/** In URLs short names are in use as well. */
export const SECRET_PARAMETER = new RegExp(`^(?:${NAMES}|key|token|sig|signature|auth)$`, 'i');

/** What looks like a key or the id of an organisation, wherever it stands: the group if there is one, or else all of it. */
const KEY_PATTERNS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter, Stripe; then Groq, Hugging Face, GitHub, GitLab; xAI, NVIDIA, Perplexity, Slack.
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\b(?:gsk|hf|gh[opsur]|glpat|github_pat)[-_][A-Za-z0-9_]{16,}/g,
  /\b(?:xai|nvapi|pplx|csk|xox[abpr])-[A-Za-z0-9_-]{16,}/g,
  // Registries of packages: npm, PyPI, Docker.
  /\b(?:npm_|pypi-|dckr_pat_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\borg-[A-Za-z0-9]{16,}\b/g,
  /\bproj_[A-Za-z0-9]{16,}\b/g,
  /\b(?:Bearer|bearer|BEARER|Basic|basic)\s+([A-Za-z0-9._~+/=-]{8,})/g,
  // Fields of JSON inside a text, however often its quotes are escaped.
  new RegExp(`"(?:${NAMES})\\\\*"\\s*:\\s*\\\\*"([^"\\\\]+)`, 'gi'),
  // Parameters inside a text.
  new RegExp(`[?&](?:${NAMES}|key|token|sig|signature)=([^&#\\s"'\\\\]+)`, 'gi'),
  // Who logs in by the address: https://user:password@host
  /\bhttps?:\/\/([^\s/@:"'\\]+:[^\s/@"'\\]+)@/g,
];

/** Private keys in PEM: whole, or as much as there is of one that was cut off at either end. */
const PEM_MARK = 'PRIVATE KEY';
const PEM_PATTERNS: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,16384}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=:,\s-]|\\+[nr])*)/g,
  /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{40,80}(?:\s|\\+[nr])+){1,60}(?:[A-Za-z0-9+/=]{1,80}(?:\s|\\+[nr])+)?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/g,
];

/** Shorter values stand in too many texts by chance; local servers take keys such as "none". */
const SHORTEST_SECRET = 8;

const JSON_LEVELS = 4;

interface RedactorOptions {
  /** Values that must not appear, in any spelling: the configured keys. */
  secrets?: readonly string[];
  /** Regular expressions of the user's. */
  patterns?: readonly string[];
}

export type Range = [start: number, end: number];

export interface Redactor {
  /** What is to be removed from a text, in order and apart. */
  ranges(text: string): Range[];
  text(text: string): string;
  /** A JSON value with its keys, texts and numbers redacted, and the fields that hold secrets by their name. */
  value<T>(value: T): T;
  /** Bytes of no known meaning: a secret is written over, the length stays. */
  bytes(bytes: Uint8Array): Uint8Array;
  /** Whether the value of a secret stands in a text; looks for the given secrets alone, not for patterns. */
  holdsSecret(text: string): boolean;
}

/** Throws `invalid_input` for a pattern that is no regular expression. */
export function createRedactor({ secrets = [], patterns = [] }: RedactorOptions = {}): Redactor {
  const exact = exactPattern(secrets);
  const all = [...(exact ? [exact] : []), ...patterns.map(userPattern), ...KEY_PATTERNS];

  function ranges(text: string): Range[] {
    const found: Range[] = [];
    // Looked for only where there may be one: lines of base64 take long.
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
    const found = ranges(text);
    if (found.length === 0) return text;
    let redacted = '';
    let at = 0;
    for (const [start, end] of found) {
      redacted += text.slice(at, start) + MASK;
      at = end;
    }
    return redacted + text.slice(at);
  }

  function redactValue(value: unknown): unknown {
    if (typeof value === 'string') return redactText(value);
    if (typeof value === 'number') return ranges(String(value)).length > 0 ? MASK : value;
    if (Array.isArray(value)) return value.map(redactValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        redactText(key),
        SECRET_FIELD.test(key) && each !== null ? MASK : redactValue(each),
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
      hint: advice`Write it as in JavaScript, for example ${settingOf('redact', '"ACME-\\d+"', '"ACME-\\d+"')}.`,
      cause: error,
    });
  }
}

function merged(ranges: Range[]): Range[] {
  const result: Range[] = [];
  for (const range of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else result.push(range);
  }
  return result;
}

/** Every way in which a secret may be spelled inside a text: as it is, escaped in JSON, in URLs, in base64, in hex. */
function secretVariants(secret: string): string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const bytes = Buffer.from(secret);
  const inUrl = encodeURIComponent(secret);
  const plain = [secret, inUrl, lowerHex(inUrl), encodeURIComponent(inUrl), inUrl.replaceAll('%20', '+')];
  // Characters that encodeURIComponent leaves alone and others escape.
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

/** What is the same in base64 whatever stands before and after: `shift` is where in a group of three it begins. */
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
