import robotsParserModule from 'robots-parser';
import { AppError } from '../../faults/app-error.ts';
import { type SafeFetch, toHttpStatusError } from './safe-fetch.ts';

interface SiteRules {
  allows(url: URL): boolean;
  /** Seconds between two requests. */
  delay: number;
  /** Why robots.txt could not be read, in which case nothing is allowed. */
  error: AppError | null;
}

/** The robots.txt rules of the site of a URL (RFC 9309). */
export type FindRobotsRules = (url: URL, signal?: AbortSignal) => Promise<SiteRules>;

// The package is CommonJS, so its default import is the function, unlike its types say.
const robotsParser = robotsParserModule as unknown as typeof robotsParserModule.default;

const PRODUCT_TOKEN = 'citeloop';
const MAX_BYTES = 512 * 1024;
const MAX_DELAY_SECONDS = 10;

/** Loads the robots.txt of an origin once, when it is first needed. */
export function createRobotsCache(web: Pick<SafeFetch, 'fetch'>): FindRobotsRules {
  const known = new Map<string, Promise<SiteRules>>();

  const disallowAll = (error: AppError): SiteRules => ({ allows: () => false, delay: 0, error });

  async function load(location: URL, signal?: AbortSignal): Promise<SiteRules> {
    try {
      const { status, bytes } = await web.fetch(location, {
        maxBytes: MAX_BYTES,
        truncate: true,
        anyStatus: true,
        ...(signal && { signal }),
      });
      if (status === 429 || status >= 500) return disallowAll(toHttpStatusError(location.href, status));
      if (bytes === null) return { allows: () => true, delay: 0, error: null };
      const robots = robotsParser(location.href, new TextDecoder().decode(bytes));
      return {
        allows: (url) => robots.isAllowed(url.href, PRODUCT_TOKEN) ?? true,
        delay: Math.min(Math.max(robots.getCrawlDelay(PRODUCT_TOKEN) ?? 0, 0), MAX_DELAY_SECONDS),
        error: null,
      };
    } catch (error) {
      signal?.throwIfAborted();
      // An unreachable robots.txt disallows everything; refused addresses are reported.
      if (error instanceof AppError && error.kind === 'api_error') return disallowAll(error);
      throw error;
    }
  }

  return (url, signal) => {
    const rules = known.get(url.origin) ?? load(new URL('/robots.txt', url), signal);
    known.set(url.origin, rules);
    return rules;
  };
}
