import type { Redactor } from '../../faults/redactor.ts';
import type { Tape } from '../open-tape.ts';
import { joined } from '../redact/redact-chunks.ts';
import { redactExchange } from '../redact/redact-exchange.ts';
import { bodyBytes } from '../tape-exchange.ts';
import type { TapeBody, TapeExchange } from '../tape-format.ts';

/** A tape as HTTP Archive 1.2, which browsers and Polly read. What HAR has no field for is in fields with `_`; keys are in none. */
export function toHar(tape: Pick<Tape, 'header' | 'tail' | 'exchanges'>, redactor: Redactor): object {
  const header = { ...redactor.value(tape.header), redact: tape.header.redact };
  const began = Date.parse(header.createdAt);
  return {
    log: {
      version: '1.2',
      creator: { name: header.madeBy.program, version: header.madeBy.version },
      pages: [],
      entries: Array.from(tape.exchanges(), (exchange) => entryOf(redactExchange(exchange, redactor), began)),
      _tape: { header, outputs: redactor.value(tape.tail?.outputs ?? null) },
    },
  };
}

function entryOf(
  { request, response, failure, startedAtMs, durationMs }: TapeExchange,
  began: number,
): object {
  const url = new URL(request.url);
  const type = request.headers['content-type'] ?? '';
  const content = contentOf(response);
  return {
    startedDateTime: new Date(began + startedAtMs).toISOString(),
    time: durationMs,
    request: {
      method: request.method,
      url: request.url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairsOf(request.headers),
      queryString: Array.from(url.searchParams, ([name, value]) => ({ name, value })),
      ...(request.body && { postData: { mimeType: type, ...textOf(request.body) } }),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: response?.status ?? 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairsOf(response?.headers ?? {}),
      content: {
        size: content.text?.length ?? 0,
        mimeType: response?.headers['content-type'] ?? '',
        ...content,
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    ...(response?.chunks && { _chunks: response.chunks }),
    ...(failure && { _failure: failure }),
  };
}

function contentOf(response: TapeExchange['response']): { text?: string; encoding?: string } {
  if (response?.chunks !== undefined) return { text: joined(response.chunks) };
  return response?.body === undefined ? {} : textOf(response.body);
}

function textOf(body: TapeBody): { text: string; encoding?: string } {
  return 'base64' in body ? { text: body.base64, encoding: 'base64' } : { text: bodyBytes(body).toString() };
}

function pairsOf(headers: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}
