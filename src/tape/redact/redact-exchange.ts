import { decodeUrl } from '../../domain/format-location.ts';
import { REDACTED, type Redactor, SECRET_PARAMETER } from '../../faults/redactor.ts';
import type { TapeBody, TapeExchange, TapeRequest, TapeResponse } from '../tape-format.ts';
import { redactChunks } from './redact-chunks.ts';

/** All other headers are left out of tapes. */
const KEPT_HEADERS =
  /^(?:accept|content-type|retry-after(?:-ms)?|x-should-retry|x-ratelimit-(?:limit|remaining|reset)[\w-]*)$/;
/** Replaces a secret in a URL, where brackets would be encoded. */
const URL_MASK = 'redacted';

/** Removes secrets and most headers. */
export function redactExchange(exchange: TapeExchange, redactor: Redactor): TapeExchange {
  const { request, response, failure, ...rest } = exchange;
  return {
    ...rest,
    request: redactRequest(request, redactor),
    ...(response && { response: redactResponse(response, redactor) }),
    ...(failure && { failure: redactor.value(failure) }),
  };
}

/** Also applied to a request before it is searched on a tape. */
export function redactRequest({ method, url, headers, body }: TapeRequest, redactor: Redactor): TapeRequest {
  return {
    method,
    url: redactUrl(url, redactor),
    headers: redactHeaders(headers, redactor),
    ...(body && { body: redactBody(body, redactor) }),
  };
}

function redactResponse({ status, headers, body, chunks }: TapeResponse, redactor: Redactor): TapeResponse {
  return {
    status,
    headers: redactHeaders(headers, redactor),
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
  const masked = redactor.text(url.href).replaceAll(REDACTED, URL_MASK);
  return URL.canParse(masked) && !redactor.holdsSecret(decodeUrl(masked))
    ? masked
    : `${url.protocol}//${URL_MASK}/`;
}

function redactHeaders(headers: Record<string, string>, redactor: Redactor): Record<string, string> {
  const kept = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    kept.filter(([name]) => KEPT_HEADERS.test(name)).map(([name, value]) => [name, redactor.text(value)]),
  );
}
