import { MASK, type Redactor, SECRET_PARAMETER } from '../../faults/redactor.ts';
import type { TapeBody, TapeExchange, TapeRequest, TapeResponse } from '../tape-format.ts';
import { redactChunks } from './redact-chunks.ts';

/** The headers that mean something to a reader or to a client; all others never reach a tape. */
const KEPT_HEADERS =
  /^(?:accept|content-type|retry-after(?:-ms)?|x-should-retry|x-ratelimit-(?:limit|remaining|reset)[\w-]*)$/;
/** Stands in URLs, where brackets would be odd. */
const URL_MASK = 'redacted';

/** An exchange as it may be written down. */
export function redactExchange(exchange: TapeExchange, redactor: Redactor): TapeExchange {
  const { request, response, failure, ...rest } = exchange;
  return {
    ...rest,
    request: redactRequest(request, redactor),
    ...(response && { response: redactResponse(response, redactor) }),
    ...(failure && { failure: redactor.value(failure) }),
  };
}

/** Also what a request goes through before it is looked up on a tape. */
export function redactRequest({ method, url, headers, body }: TapeRequest, redactor: Redactor): TapeRequest {
  return {
    method,
    url: redactUrl(url, redactor),
    headers: keptHeaders(headers, redactor),
    ...(body && { body: redactBody(body, redactor) }),
  };
}

function redactResponse({ status, headers, body, chunks }: TapeResponse, redactor: Redactor): TapeResponse {
  return {
    status,
    headers: keptHeaders(headers, redactor),
    ...(body && { body: redactBody(body, redactor) }),
    ...(chunks && { chunks: redactChunks(chunks, redactor) }),
  };
}

function redactBody(body: TapeBody, redactor: Redactor): TapeBody {
  if ('json' in body) return { json: redactor.value(body.json) };
  if ('text' in body) return { text: redactor.text(body.text) };
  const bytes = redactor.bytes(Buffer.from(body.base64, 'base64'));
  return { base64: Buffer.from(bytes).toString('base64') };
}

export function redactUrl(address: string, redactor: Redactor): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.hash = '';
  for (const [name, value] of [...url.searchParams]) {
    if (SECRET_PARAMETER.test(name) && value !== '') url.searchParams.set(name, URL_MASK);
  }
  const masked = redactor.text(url.href).replaceAll(MASK, URL_MASK);
  return URL.canParse(masked) && !redactor.holdsSecret(decoded(masked))
    ? masked
    : `${url.protocol}//${URL_MASK}/`;
}

function keptHeaders(headers: Record<string, string>, redactor: Redactor): Record<string, string> {
  const kept = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    kept.filter(([name]) => KEPT_HEADERS.test(name)).map(([name, value]) => [name, redactor.text(value)]),
  );
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
