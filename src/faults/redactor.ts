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

/** Keys and organisation ids by the prefixes and lengths that their services document. */
const KEY_SHAPES: readonly RegExp[] = [
  // Models: OpenAI, Anthropic, OpenRouter; Groq, Hugging Face, xAI, NVIDIA, Perplexity, Cerebras, Replicate, ElevenLabs.
  /(?:sk|pk|rk)-[\w-]{16,}|(?:gsk|hf|r8)_\w{16,}|(?:xai|nvapi|pplx|csk)-[\w-]{16,}|sk_[0-9a-f]{40,}/,
  /org-[A-Za-z0-9]{16,}\b|proj_[A-Za-z0-9]{16,}\b/,
  // Fireworks, Voyage, Jina, Pinecone, Tavily, LangSmith, E2B, Weights & Biases.
  /fw_[A-Za-z0-9]{20,}|pa-[\w-]{40,}|(?:jina|pcsk|lsv2_[ps][tk]|e2b|wandb_v1)_\w{20,}|tvly-[\w-]{20,}/,
  // GitHub, GitLab, npm, PyPI, Docker, RubyGems.
  /(?:gh[opsur]|github_pat)[-_]\w{16,}|gl(?:pat|dt|rt|ptt|ft|imt|agent|soat|cbt|oas|ffct)-[\w-]{20,}|(?:npm_|pypi-|dckr_[po]at_|rubygems_)[\w-]{16,}/,
  // AWS, Bedrock, Alibaba, Google, Azure, DigitalOcean, Heroku, Fly.
  /(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b|(?<![+/])ABSK[\w+/]{60,}={0,2}|LTAI[A-Za-z0-9]{16,20}\b/,
  /AIza[\w-]{30,}|ya29\.[\w.-]{20,}|GOCSPX-[\w-]{20,}|1\/\/0[\w-]{30,}/,
  /[\w~.]{3}\dQ~[\w~.-]{31,34}|do[opr]_v1_[0-9a-f]{40,}|HRKU-[\w-]{30,}|fm[12][ar]?_[\w+/=-]{40,}/,
  // Vault, Doppler, Pulumi, Terraform, Databricks, Supabase, PlanetScale, age, 1Password, OpenShift.
  /hv[sbr]\.[\w-]{20,}|dp\.[a-z]{2,5}\.[\w.]{40,}|pul-[0-9a-f]{40}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}/,
  /dapi[0-9a-f]{32}|sb(?:p|_secret)_\w{20,}|pscale_[a-z]{2,6}_[\w.-]{30,}|AGE-SECRET-KEY-1[0-9A-Z]{58}|ops_eyJ[\w=-]{40,}|sha256~[\w-]{43}/,
  // Slack, Discord, Telegram, Twilio, SendGrid, Mailgun, Mailchimp, Resend, Brevo.
  /xox[a-z]-[\w-]{16,}|xapp-\d-[\w-]{16,}|hooks\.slack\.com\/(?:services|workflows)\/[\w/]{20,}|discord(?:app)?\.com\/api\/webhooks\/\d+\/[\w-]{40,}/,
  /[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}|\d{8,10}:AA[\w-]{32,}|SK[0-9a-f]{32}\b|SG\.[\w-]{16,32}\.[\w-]{16,}/,
  /key-[0-9a-f]{32}\b|[0-9a-f]{32}-us\d{1,2}\b|re_[A-Za-z0-9]{8,}_[A-Za-z0-9]{16,}|xkeysib-[0-9a-f]{64}-\w{16}/,
  // Stripe, Square, Shopify, Facebook.
  /(?:sk|pk|rk)_(?:live|test)_\w{16,}|whsec_[\w+/=]{24,}|sq0[a-z]{3}-[\w-]{22,}|shp[a-z]{2}_[0-9a-f]{32}|(?<![+/])EAA[A-Za-z0-9]{80,}/,
  // Linear, Notion, Airtable, Figma, Postman, Atlassian, New Relic, Grafana, Sentry.
  /lin_api_\w{30,}|(?:secret|ntn)_[A-Za-z0-9]{40,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|figd_[\w-]{30,}|PMAK-[\w-]{40,}/,
  /ATATT3[\w=-]{40,}|NRAK-[0-9A-Z]{27}|gl(?:sa|c)_[\w+/=]{30,}|sntry[su]_[\w+/=]{40,}/,
  /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/,
];

/** Match secrets inside a text; the secret is the group, or the whole match without one. */
const KEY_PATTERNS: readonly RegExp[] = [
  // A key may follow a line break that is escaped in JSON.
  new RegExp(`(?:\\b|(?<=\\\\[nrt]))(?:${KEY_SHAPES.map(({ source }) => source).join('|')})`, 'g'),
  /\b(?:Bearer|bearer|BEARER|Basic|basic)\s+(?!HTTP\/)(?=[A-Za-z._~+/-]*[\d=])([A-Za-z0-9._~+/=-]{8,})/g,
  // JSON fields inside a text; their quotes may be escaped several times.
  new RegExp(`"(?:${NAMES})\\\\*"\\s*:\\s*\\\\*"([^"\\\\]+)`, 'gi'),
  // Parameters inside a text.
  new RegExp(`[?&](?:${NAMES}|key|token|sig|signature)=([^&#\\s"'\\\\]+)`, 'gi'),
  // Docker's config.json, .netrc, `curl -u`, and cookies in a text.
  /"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/]{16,}={0,2})/g,
  /\blogin\s+\S+\s+password\s+(?=\S*\d)([^\s"'\\]{8,})/g,
  /\s(?:-u|-{2}user)[\s=]+["']?[\w.@-]+:(?=\S*\d)(?=\S*[A-Za-z])([^\s"'\\]{8,})/g,
  /\bcookie:\s*[^\s=;]+=(?=\S*\d)([^\s;"'\\]{16,})/gi,
  // postgres://user:password@host, but no placeholder such as $PASSWORD or <password>.
  /:\/\/([^\s/@:"'\\]*:(?![$<{*%[]|pass(?:word)?@)[^\s/@"'\\]+)@/g,
];

const SECRET_WORDS =
  '(?:api|access|account|admin|auth|client|encryption|master|private|secret|service|shared|signing|storage)[-_. ]?key|secret|token(?!i)|credential|passw(?:or)?d|passphrase|pwd';
const SECRET_NAME = new RegExp(SECRET_WORDS, 'i');
/** A name of a secret and the value after it. The value is not part of the match, as it may be the next name. */
const ASSIGNMENT = new RegExp(
  `(?:${SECRET_WORDS})[\\w.-]{0,30}[\\s"'\`\\\\=:>,()[\\]]{1,12}(?=([\\w./+~@#$%^*!-]{8,}={0,2}))`,
  'gi',
);
const PASSWORD_NAME = /(?:pass|pwd).*[=:>].*$/i;
const ID_NAME = /id\W*$/i;

/**
 * Whether a value after a name and its operator is random, and not words, a model, a date or a placeholder. The ids of
 * secrets are no secrets.
 */
function isSecretValue(name: string, value: string): boolean {
  if (ID_NAME.test(name) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (PASSWORD_NAME.test(name) && /[a-z]/.test(value) && /[A-Z]/.test(value)) return value.length >= 8;
  // Random characters change often between letters of either case and digits; "iP" in camelCase counts, "Pa" does not.
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])|[a-z](?=[A-Z])/g)?.length ?? 0;
  return value.length >= 16 && changes >= value.length / 5;
}

function isSecretField(name: string, value: unknown): boolean {
  if (SECRET_FIELD.test(name)) return value !== null;
  return typeof value === 'string' && SECRET_NAME.test(name) && isSecretValue(`${name}:`, value);
}

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

export interface Redactor {
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
  const configured = [...(exact ? [exact] : []), ...patterns.map(userPattern)];
  const all = [...configured, ...KEY_PATTERNS];

  function redactText(text: string): string {
    const found: [start: number, end: number][] = [];
    // The PEM patterns are slow on base64.
    for (const pattern of text.includes(PEM_MARK) ? [...all, ...PEM_PATTERNS] : all) {
      for (const match of text.matchAll(pattern)) {
        const [whole, secret = whole] = match;
        const start = match.index + whole.lastIndexOf(secret);
        if (secret !== '') found.push([start, start + secret.length]);
      }
    }
    for (const { 0: name, 1: value = '', index } of text.matchAll(ASSIGNMENT)) {
      const start = index + name.length;
      if (isSecretValue(name, value)) found.push([start, start + value.length]);
    }
    let redacted = '';
    let at = 0;
    for (const [start, end] of found.sort((a, b) => a[0] - b[0])) {
      // Ranges that overlap or touch become one.
      if (redacted === '' || start > at) redacted += text.slice(at, start) + REDACTED;
      at = Math.max(at, end);
    }
    return redacted + text.slice(at);
  }

  function redactValue(value: unknown): unknown {
    if (typeof value === 'string') return redactText(value);
    if (typeof value === 'number')
      return configured.some((pattern) => String(value).search(pattern) >= 0) ? REDACTED : value;
    if (Array.isArray(value)) return value.map(redactValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        redactText(key),
        isSecretField(key, each) ? REDACTED : redactValue(each),
      ]),
    );
  }

  return {
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

/** The secret as plain text, escaped in JSON and URLs, in base64 and in hex; matched in any case. */
function secretVariants(secret: string): string[] {
  if (secret.length < SHORTEST_SECRET) return [];
  const bytes = Buffer.from(secret);
  const inUrl = encodeURIComponent(secret);
  const plain = [secret, inUrl, encodeURIComponent(inUrl), inUrl.replaceAll('%20', '+'), encodeURI(secret)];
  // Other encoders also escape characters that encodeURIComponent leaves alone.
  plain.push(inUrl.replace(/[!'()*~._-]/g, percent), inUrl.replace(/[!'()*]/g, percent));
  const encoded = [bytes.toString('hex')];
  for (let shift = 0; shift < 3; shift += 1) {
    const base64 = base64Inside(bytes, shift);
    encoded.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return [...plain, ...encoded].flatMap(escapedInJson).filter(({ length }) => length >= SHORTEST_SECRET);
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

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
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
export function redactShownText(text: string, secrets: readonly (string | undefined)[] = []): string {
  const known = secrets.filter((secret) => secret !== undefined && secret.length >= SHORTEST_KEY) as string[];
  const short = known.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text);
  const safe = createRedactor({ secrets: known }).text(short);
  return KEY_LIKE.reduce((redacted, pattern) => redacted.replace(pattern, REDACTED), safe);
}
