import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenForTest } from './listen-for-test.ts';

export interface CollectedSpan {
  name: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, unknown>;
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: KeyValue[] })[] }[];
  }[];
}
interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

/** A collector for OTLP over HTTP with JSON, until the running test ends. */
export async function startTraceCollector() {
  const requests: ExportRequest[] = [];
  const paths = new Set<string>();
  const server = createServer(async (request, response) => {
    paths.add(request.url ?? '');
    requests.push((await json(request)) as ExportRequest);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const { origin } = await listenForTest(server);
  const resources = () => requests.flatMap(({ resourceSpans }) => resourceSpans);
  return {
    /** For a program that exports here. */
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: origin, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    paths,
    requests,
    resources: () => resources().map(({ resource }) => toObject(resource.attributes)),
    spans: (): CollectedSpan[] =>
      resources()
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map((span) => ({ ...span, attributes: toObject(span.attributes) })),
  };
}

function toObject(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Each span below its parent, indented. */
export function formatTraceTree(spans: readonly CollectedSpan[], parent?: string, indent = ''): string[] {
  return spans
    .filter(({ parentSpanId }) => (parentSpanId || undefined) === parent)
    .flatMap(({ name, spanId }) => [indent + name, ...formatTraceTree(spans, spanId, `${indent}  `)]);
}
