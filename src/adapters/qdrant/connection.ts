import type { QdrantClient } from '@qdrant/js-client-rest';
import { AppError } from '../../faults/app-error.ts';
import { startRetries } from '../../faults/retry.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { hearRefusal, qdrantFault } from './qdrant-fault.ts';

const DEFAULT_PORT = 6333;
const FIRST_WAIT_MS = 200;
/** Whoever is asked to wait longer than this is told so at once. */
const LONGEST_WAIT_MS = 30_000;

export interface ConnectionOptions {
  /** Where the server listens; a path in it is kept, and the port is 6333 unless it says otherwise. */
  url: string;
  apiKey?: string | undefined;
  /** The keys of other services; no sentence shows them. */
  secrets?: readonly string[] | undefined;
  /** How long one request may take. */
  timeoutMs?: number | undefined;
  /** Whose time is waited before a request is repeated; the machine's unless given. */
  runtime?: Pick<Runtime, 'sleep' | 'random'> | undefined;
}

export interface Connection {
  readonly timeoutMs: number;
  /**
   * Runs a request and repeats it after faults of the moment: what is done must be the same when done twice.
   * `collection` is what messages speak of. Throws AppErrors only.
   */
  call<T>(collection: string | null, work: (client: QdrantClient) => Promise<T>): Promise<T>;
}

/** A Qdrant server. Nothing is loaded or asked before the first call. */
export function createConnection(options: ConnectionOptions): Connection {
  const { apiKey, secrets = [], timeoutMs = 10_000, runtime } = options;
  const address = parseAddress(options.url);
  let loading: Promise<QdrantClient> | undefined;

  async function load(): Promise<QdrantClient> {
    const { QdrantClient } = await import('@qdrant/js-client-rest');
    return new QdrantClient({
      url: address.origin,
      port: address.port,
      prefix: address.path,
      timeout: timeoutMs,
      // It would write to the terminal.
      checkCompatibility: false,
      headers: {
        // Compressed answers stall for some 40 ms each.
        'accept-encoding': 'identity',
        // As the client's own option it would warn on the terminal where there is no TLS.
        ...(apiKey !== undefined && { 'api-key': apiKey }),
      },
    });
  }

  return {
    timeoutMs,

    async call(collection, work) {
      loading ??= load();
      const client = await loading;
      const retries = startRetries({
        firstWaitMs: FIRST_WAIT_MS,
        longestWaitMs: LONGEST_WAIT_MS,
        sleep: runtime?.sleep,
        random: runtime?.random,
      });
      for (;;) {
        const heard = hearRefusal(address);
        try {
          return await work(client);
        } catch (error) {
          const { fault, transient } = qdrantFault(error, {
            server: address.shown,
            collection,
            timeoutMs,
            apiKey,
            secrets,
            refusal: heard.last(),
          });
          if (!transient || !(await retries.waitAfter(fault))) throw fault;
        } finally {
          heard.stop();
        }
      }
    },
  };
}

interface ServerAddress {
  /** Protocol, host and port as the client takes them. */
  origin: string;
  port: number;
  /** Empty, or what comes before every path of the server, behind a proxy. */
  path: string;
  /** What a person is shown: no user name, no password, no query. */
  shown: string;
}

/** Throws `configuration_error`. */
export function parseAddress(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError('configuration_error', 'The address of the Qdrant server is not an http(s) URL.', {
      hint: 'Set QDRANT_URL to something like http://127.0.0.1:6333.',
    });
  }
  // The standard hides a port that is the usual one of its protocol; the client would take 6333 then.
  const port = Number(/^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text.trim())?.[1] ?? DEFAULT_PORT);
  const path = url.pathname.replace(/\/+$/, '');
  const origin = `${url.protocol}//${url.hostname}:${port}`;
  return { origin, port, path, shown: `${origin}${path}` };
}
