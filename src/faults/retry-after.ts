const IN_WORDS = /(?:try again|retry)[^.\d]{0,20}?((?:\d+(?:\.\d+)?\s*(?:ms|h|m|s)[a-z]*\s*)+)/i;
const DURATION = /(\d+(?:\.\d+)?)\s*(ms|h|m|s)/g;
const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** The seconds that a service asks to wait: by its headers, in its body, or in the words of its message. */
export function retryAfterOf(headers: unknown, inBody?: unknown, message = ''): number | undefined {
  return fromHeaders(headers) ?? (typeof inBody === 'number' ? inBody : undefined) ?? fromWords(message);
}

function fromHeaders(headers: unknown): number | undefined {
  if (!isHeaders(headers)) return undefined;
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const value = headers.get('retry-after')?.trim();
  if (value) return /^\d+(\.\d+)?$/.test(value) ? Number(value) : secondsUntil(Date.parse(value));
  const spent = ['requests', 'tokens'].find((what) => headers.get(`x-ratelimit-remaining-${what}`) === '0');
  return spent === undefined ? undefined : durationOf(headers.get(`x-ratelimit-reset-${spent}`) ?? '');
}

function fromWords(message: string): number | undefined {
  return durationOf(IN_WORDS.exec(message)?.[1] ?? '');
}

/** `1.5s`, `6m0s` or `20 seconds`, in seconds. */
function durationOf(text: string): number | undefined {
  const parts = Array.from(text.matchAll(DURATION), ([, count, unit]) => {
    return Number(count) * SECONDS[unit as keyof typeof SECONDS];
  });
  return parts.length === 0 ? undefined : parts.reduce((sum, seconds) => sum + seconds);
}

function secondsUntil(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

/** Also those of another implementation of fetch, which are of another class. */
function isHeaders(value: unknown): value is { get(name: string): string | null } {
  return typeof (value as { get?: unknown } | null | undefined)?.get === 'function';
}
