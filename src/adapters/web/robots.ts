import robotsParserModule from 'robots-parser';
import { AppError } from '../../faults/app-error.ts';
import { type SafeFetch, statusFault } from './safe-fetch.ts';

/** What the robots.txt of each site asks of us (RFC 9309). */
export interface Robots {
  allows(url: URL, signal?: AbortSignal): Promise<boolean>;
  /** Why robots.txt could not be read, in which case nothing is allowed; null when it could. */
  faultOf(url: URL, signal?: AbortSignal): Promise<AppError | null>;
  /** Seconds between two requests, at most 10. */
  delayOf(url: URL, signal?: AbortSignal): Promise<number>;
}

interface Rules {
  allows(url: URL): boolean;
  delay: number;
  fault: AppError | null;
}

// Its types describe an ES module, but it is CommonJS: the default import is the function itself.
const robotsParser = robotsParserModule as unknown as typeof robotsParserModule.default;

const PRODUCT_TOKEN = 'citeloop';
const MAX_BYTES = 512 * 1024;
const MAX_DELAY_SECONDS = 10;
const ALLOW_ALL: Rules = { allows: () => true, delay: 0, fault: null };

/** Reads robots.txt once per origin, when it is first asked about. */
export function createRobots(web: Pick<SafeFetch, 'fetch'>): Robots {
  const known = new Map<string, Promise<Rules>>();

  function rulesOf(url: URL, signal?: AbortSignal): Promise<Rules> {
    const rules = known.get(url.origin) ?? load(new URL('/robots.txt', url), signal);
    known.set(url.origin, rules);
    return rules;
  }

  async function load(location: URL, signal?: AbortSignal): Promise<Rules> {
    try {
      const { status, bytes } = await web.fetch(location, {
        maxBytes: MAX_BYTES,
        truncate: true,
        anyStatus: true,
        ...(signal && { signal }),
      });
      if (status === 429 || status >= 500) return disallowAll(statusFault(location.href, status));
      return bytes === null ? ALLOW_ALL : parse(location, new TextDecoder().decode(bytes));
    } catch (error) {
      signal?.throwIfAborted();
      // Unreachable means complete disallow; what we refuse to reach at all is the person's to know.
      if (error instanceof AppError && error.kind === 'api_error') return disallowAll(error);
      throw error;
    }
  }

  return {
    allows: async (url, signal) => (await rulesOf(url, signal)).allows(url),
    faultOf: async (url, signal) => (await rulesOf(url, signal)).fault,
    delayOf: async (url, signal) => (await rulesOf(url, signal)).delay,
  };
}

function disallowAll(fault: AppError): Rules {
  return { allows: () => false, delay: 0, fault };
}

function parse(location: URL, text: string): Rules {
  const robots = robotsParser(location.href, text);
  const delay = robots.getCrawlDelay(PRODUCT_TOKEN) ?? 0;
  return {
    allows: (url) => robots.isAllowed(url.href, PRODUCT_TOKEN) ?? true,
    delay: Math.min(Math.max(delay, 0), MAX_DELAY_SECONDS),
    fault: null,
  };
}
