import type { QdrantClient } from '@qdrant/js-client-rest';
import { AppError } from '../../faults/app-error.ts';
import { startRetries } from '../../faults/retry.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { isQdrantTimeout, toQdrantError } from './qdrant-error.ts';

const DEFAULT_PORT = 6333;
const FIRST_WAIT_MS = 200;
/** A server that asks for a longer wait is reported at once. */
const LONGEST_WAIT_MS = 30_000;

export interface QdrantConnectionOptions {
  /** The server's URL. A path is kept; the port is 6333 unless given. */
  url: string;
  apiKey?: string | undefined;
  /** Keys of other services, which are removed from error messages. */
  secrets?: readonly string[] | undefined;
  /** The time limit of one request. */
  timeoutMs?: number | undefined;
  /** Used to wait between retries; the system's clock unless given. */
  runtime?: Pick<Runtime, 'sleep' | 'random'> | undefined;
}

export interface QdrantConnection {
  /**
   * Runs a request, which must be idempotent: it is repeated after transient failures. `collection` is named in error
   * messages. Throws only AppErrors.
   */
  call<T>(collection: string | null, request: (client: QdrantClient) => Promise<T>): Promise<T>;
}

/** Loads the client and connects on the first call. */
export function createQdrantConnection(options: QdrantConnectionOptions): QdrantConnection {
  const { apiKey, secrets = [], timeoutMs = 10_000, runtime } = options;
  const address = parseServerAddress(options.url);
  let loading: Promise<QdrantClient> | undefined;

  async function load(): Promise<QdrantClient> {
    const { QdrantClient } = await import('@qdrant/js-client-rest');
    return new QdrantClient({
      url: address.origin,
      port: address.port,
      prefix: address.path,
      timeout: timeoutMs,
      // The check prints to the terminal.
      checkCompatibility: false,
      headers: {
        // Compressed responses are delayed by some 40 ms each.
        'accept-encoding': 'identity',
        // The client's own option prints a warning for servers without TLS.
        ...(apiKey !== undefined && { 'api-key': apiKey }),
      },
    });
  }

  return {
    async call(collection, request) {
      loading ??= load();
      const client = await loading;
      const retries = startRetries({
        firstWaitMs: FIRST_WAIT_MS,
        longestWaitMs: LONGEST_WAIT_MS,
        sleep: runtime?.sleep,
        random: runtime?.random,
      });
      for (;;) {
        try {
          return await request(client);
        } catch (thrown) {
          if (thrown instanceof AppError) throw thrown;
          const context = { server: address.display, collection, timeoutMs, apiKey, secrets };
          const error = toQdrantError(thrown, context);
          // A server that did not answer in time is overloaded.
          if (!error.recoverable || isQdrantTimeout(thrown) || !(await retries.waitAfter(error))) throw error;
        }
      }
    },
  };
}

/**
 * `path` is in front of the server's own paths, behind a proxy; `display` is the URL without user name, password and
 * query, for messages. Throws `configuration_error`.
 */
export function parseServerAddress(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError('configuration_error', 'The address of the Qdrant server is not an http(s) URL.', {
      hint: 'Set QDRANT_URL to something like http://127.0.0.1:6333.',
    });
  }
  // URL drops a port that is the default of its protocol; the client would then use 6333.
  const port = Number(/^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text.trim())?.[1] ?? DEFAULT_PORT);
  const path = url.pathname.replace(/\/+$/, '');
  const origin = `${url.protocol}//${url.hostname}:${port}`;
  return { origin, port, path, display: `${origin}${path}` };
}
