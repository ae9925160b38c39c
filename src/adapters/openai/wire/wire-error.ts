import { firstText, isObject, type JsonObject, objectsOf, parseJson } from './json-object.ts';

/** An error as OpenAI would send it, with the HTTP status that it has or should have had. */
export interface WireError {
  message: string;
  status: number;
  code?: string;
  type?: string;
  param?: string;
  /** Seconds. */
  retryAfter?: number;
}

/** What services call their faults, where they give no status. */
const STATUS_OF_WORD: ReadonlyArray<[RegExp, number]> = [
  [/rate.?limit|too.?many|quota|resource.?exhausted/i, 429],
  [/auth|api.?key|permission|forbidden/i, 401],
  [/not.?found/i, 404],
  [/overload|unavailable|capacity/i, 503],
  [/timeout/i, 504],
  [/server|internal|upstream/i, 500],
  [/invalid|bad.?request|context.?length|tool.?use|unsupported/i, 400],
];

/**
 * The error that a body or an event holds, in whichever of the shapes that are in use: an `error` that is
 * an object or a text, a list, FastAPI's `detail`, a bare `message`, one inside the choice or the response.
 * Undefined if it holds none.
 */
export function wireErrorOf(body: unknown, httpStatus?: number): WireError | undefined {
  const [first] = objectsOf(Array.isArray(body) ? body : [body]);
  if (first === undefined) return undefined;
  const error = errorIn(first, httpStatus !== undefined);
  if (error === undefined) return undefined;
  const fields = isObject(error) ? error : {};
  const code = wordOf(fields.code) ?? wordOf(fields.status);
  const type = wordOf(fields.type);
  const param = wordOf(fields.param);
  const retryAfter = retryAfterIn(fields);
  return {
    message: messageIn(error) ?? 'no reason given',
    status: httpStatus ?? statusIn(fields) ?? statusIn(first) ?? statusOfWords(`${code} ${type}`),
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** An answer that failed with its status holds an error in any case; one with status 200 must say so. */
function errorIn(body: JsonObject, failed: boolean): unknown {
  const [choice] = objectsOf(body.choices);
  const inside = body.error || choice?.error || (isObject(body.response) && body.response.error);
  if (inside) return isObject(inside) || typeof inside === 'string' ? inside : body;
  if (choice?.finish_reason === 'error') return 'the provider gave up in the middle of its answer';
  const [listed] = objectsOf(body.errors);
  if (listed !== undefined) return listed;
  if (failed || body.object === 'error' || body.type === 'error') return body;
  const isAnswer = 'choices' in body || 'output' in body || 'type' in body || 'usage' in body;
  return !isAnswer && (body.detail ?? body.message) !== undefined ? body : undefined;
}

function messageIn(error: unknown, depth = 0): string | undefined {
  if (typeof error === 'string') return error.trim() || undefined;
  if (!isObject(error) || depth > 3) return undefined;
  const { message, detail, msg, metadata } = error;
  const said =
    messageIn(message, depth + 1) ??
    messageIn(detail, depth + 1) ??
    objectsOf(detail)
      .map((each) => `${[each.loc ?? []].flat().join('.')}: ${each.msg}`)
      .find(Boolean) ??
    firstText(msg, error.error);
  // OpenRouter says "Provider returned error" and keeps what the provider said apart.
  const raw = isObject(metadata) ? firstText(metadata.raw) : undefined;
  if (raw === undefined) return said;
  const inner = wireErrorOf(parseJson(raw))?.message ?? raw;
  return said === undefined ? inner : `${said}: ${inner}`;
}

function statusIn(fields: JsonObject): number | undefined {
  return [fields.status_code, fields.statusCode, fields.status, fields.code]
    .map(Number)
    .find((value) => Number.isInteger(value) && value >= 400 && value <= 599);
}

function statusOfWords(words: string): number {
  return STATUS_OF_WORD.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : firstText(value);
}

/** Google puts it among `details`, OpenRouter among the headers that it repeats in `metadata`. */
function retryAfterIn(fields: JsonObject): number | undefined {
  const delay = objectsOf(fields.details).map((each) => parseFloat(String(each.retryDelay)));
  const metadata = isObject(fields.metadata) ? fields.metadata : {};
  const headers = isObject(metadata.headers) ? metadata.headers : {};
  const resetAt = Number(headers['X-RateLimit-Reset']) || undefined;
  return [
    Number(fields.retry_after ?? metadata.retry_after_seconds ?? Number.NaN),
    ...delay,
    resetAt === undefined ? Number.NaN : Math.max(0, (resetAt - Date.now()) / 1000),
  ].find((seconds) => Number.isFinite(seconds));
}
