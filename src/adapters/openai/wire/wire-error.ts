import { isJsonObject, parseJson } from '../../../text/parse-json.ts';
import { firstText, type JsonObject, objectsIn } from './json-object.ts';

/** An error in OpenAI's form, with the HTTP status that it has or should have had. */
export interface WireError {
  message: string;
  status: number;
  code?: string | undefined;
  type?: string | undefined;
  param?: string | undefined;
  retryAfter?: number | undefined;
}

/** The HTTP status for error names, for services that send no status. */
const STATUS_BY_WORD: ReadonlyArray<[RegExp, number]> = [
  [/rate.?limit|too.?many|quota|resource.?exhausted/i, 429],
  [/auth|api.?key|permission|forbidden/i, 401],
  [/not.?found/i, 404],
  [/overload|unavailable|capacity/i, 503],
  [/timeout/i, 504],
  [/server|internal|upstream/i, 500],
  [/invalid|bad.?request|context.?length|tool.?use|unsupported/i, 400],
];

/**
 * The error in a body or event, in any of the common shapes: an `error` that is an object or a string, a list, FastAPI's
 * `detail`, a bare `message`, or an error inside the choice or the response. Undefined if there is none.
 */
export function parseWireError(body: unknown, httpStatus?: number): WireError | undefined {
  const [first] = objectsIn(Array.isArray(body) ? body : [body]);
  if (first === undefined) return undefined;
  const error = findError(first, httpStatus !== undefined);
  if (error === undefined) return undefined;
  const fields = isJsonObject(error) ? error : {};
  const code = toWord(fields.code) ?? toWord(fields.status);
  const type = toWord(fields.type);
  const byWord = STATUS_BY_WORD.find(([pattern]) => pattern.test(`${code} ${type}`));
  return {
    message: findMessage(error) ?? 'no reason given',
    status: httpStatus ?? findStatus(fields) ?? findStatus(first) ?? byWord?.[1] ?? 500,
    code,
    type,
    param: toWord(fields.param),
    retryAfter: findRetryAfter(fields),
  };
}

/** With a failed status any body is an error; with status 200 only a body that names one. */
function findError(body: JsonObject, failed: boolean): unknown {
  const [choice] = objectsIn(body.choices);
  const inside = body.error || choice?.error || (isJsonObject(body.response) && body.response.error);
  if (inside) return isJsonObject(inside) || typeof inside === 'string' ? inside : body;
  if (choice?.finish_reason === 'error') return 'the provider failed in the middle of its answer';
  const [listed] = objectsIn(body.errors);
  if (listed !== undefined) return listed;
  if (failed || body.object === 'error' || body.type === 'error') return body;
  const isAnswer = 'choices' in body || 'output' in body || 'type' in body || 'usage' in body;
  return !isAnswer && (body.detail ?? body.message) !== undefined ? body : undefined;
}

function findMessage(error: unknown, depth = 0): string | undefined {
  if (typeof error === 'string') return error.trim() || undefined;
  if (!isJsonObject(error) || depth > 3) return undefined;
  const { message, detail, msg, metadata } = error;
  const said =
    findMessage(message, depth + 1) ??
    findMessage(detail, depth + 1) ??
    objectsIn(detail)
      .map((each) => `${[each.loc ?? []].flat().join('.')}: ${each.msg}`)
      .find(Boolean) ??
    firstText(msg, error.error);
  // OpenRouter's message is "Provider returned error"; the provider's own error is in the metadata.
  const raw = isJsonObject(metadata) ? firstText(metadata.raw) : undefined;
  if (raw === undefined) return said;
  const inner = parseWireError(parseJson(raw))?.message ?? raw;
  return said === undefined ? inner : `${said}: ${inner}`;
}

function findStatus(fields: JsonObject): number | undefined {
  return [fields.status_code, fields.statusCode, fields.status, fields.code]
    .map(Number)
    .find((value) => Number.isInteger(value) && value >= 400 && value <= 599);
}

function toWord(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : firstText(value);
}

/** Google sends it in `details`, OpenRouter in the headers that it repeats in `metadata`. */
function findRetryAfter(fields: JsonObject): number | undefined {
  const delay = objectsIn(fields.details).map((each) => parseFloat(String(each.retryDelay)));
  const metadata = isJsonObject(fields.metadata) ? fields.metadata : {};
  const headers = isJsonObject(metadata.headers) ? metadata.headers : {};
  const resetAt = Number(headers['X-RateLimit-Reset']) || undefined;
  return [
    Number(fields.retry_after ?? metadata.retry_after_seconds ?? Number.NaN),
    ...delay,
    resetAt === undefined ? Number.NaN : Math.max(0, (resetAt - Date.now()) / 1000),
  ].find((seconds) => Number.isFinite(seconds));
}
