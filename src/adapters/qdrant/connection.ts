import { setTimeout as delay } from 'node:timers/promises';
import type { QdrantClient } from '@qdrant/js-client-rest';
import { hearRefusal } from './hear-refusal.ts';
import { parseAddress } from './parse-address.ts';
import { qdrantFault } from './qdrant-fault.ts';

const MOST_RETRIES = 3;
const FIRST_WAIT_MS = 200;
/** Whoever is asked to wait longer than this is told so at once. */
const LONGEST_WAIT_MS = 30_000;

export interface ConnectionOptions {
  /** Where the server listens; a path in it is kept, and the port is 6333 unless it says otherwise. */
  url: string;
  apiKey?: string | undefined;
  /** How long one request may take. */
  timeoutMs?: number | undefined;
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
  const { apiKey, timeoutMs = 10_000 } = options;
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
      for (let attempt = 0; ; attempt += 1) {
        const heard = hearRefusal(address);
        try {
          return await work(client);
        } catch (error) {
          const { fault, transient } = qdrantFault(error, {
            server: address.shown,
            collection,
            timeoutMs,
            apiKey,
            refusal: heard.last(),
          });
          const waitMs = fault.retryAfter === undefined ? backoff(attempt) : fault.retryAfter * 1000;
          if (!transient || attempt >= MOST_RETRIES || waitMs > LONGEST_WAIT_MS) throw fault;
          await delay(waitMs);
        } finally {
          heard.stop();
        }
      }
    },
  };
}

/** Between half and all of twice the wait before. */
function backoff(attempt: number): number {
  return FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2);
}
