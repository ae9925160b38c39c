import { type AppConfig, loadConfig } from '../config/load-config.ts';
import { sameOrigin } from '../config/parse-value.ts';
import { COHERE_URL, providerPresets } from '../config/service-access.ts';
import { advice, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { isLoopbackHost } from '../server/http/guards.ts';
import type { ServiceTarget } from '../tape/reissue-requests.ts';
import type { TapeJson } from '../tape/tape-format.ts';

/** Settings that are URLs of services. */
const URL_SETTINGS = ['baseUrl', 'embeddingBaseUrl', 'cohereBaseUrl', 'rerankBaseUrl', 'qdrantUrl'] as const;

/**
 * Throws `invalid_input` if a tape has the URL of a service that is not configured here and not given by a flag: a replay
 * that sends requests would send keys to it.
 */
export function assertConfiguredServices(
  recorded: Readonly<Record<string, TapeJson>>,
  given: Readonly<Record<string, unknown>>,
  configPath: string | undefined,
): void {
  const config = loadConfig({ configPath });
  for (const name of URL_SETTINGS) {
    const url = recorded[name];
    if (typeof url !== 'string' || given[name] !== undefined || isConfigured(url, config)) continue;
    throw new AppError(
      'invalid_input',
      `The tape uses the service ${url}, which is not configured here. Keys would be sent to it.`,
      { hint: advice`If you trust it, configure it${settingValue(name, url, '')}.` },
    );
  }
}

/** The configured service for a recorded URL, with its key; a sentence if there is none. */
export function findConfiguredService(recorded: string, config: AppConfig): ServiceTarget | string {
  const url = new URL(recorded);
  const [, base = '', call = ''] =
    /^(.*?)(\/(?:chat\/completions|responses|embeddings|v\d\/embed|v\d\/rerank))$/.exec(url.pathname) ?? [];
  if (call === '') return 'an unknown service';
  const { modelService, embedding, cohereBaseUrl, cohereKey, origins } = config;
  if (/embed$|rerank$/.test(call)) {
    return { url: `${cohereBaseUrl ?? COHERE_URL}${call}`, headers: bearer(cohereKey?.reveal()) };
  }
  const isEmbedding = call === '/embeddings';
  const service = isEmbedding ? embedding.service : modelService;
  const named = [origins.baseUrl, origins.provider, ...(isEmbedding ? [origins.embeddingBaseUrl] : [])];
  if (named.some((origin) => origin !== undefined) || sameOrigin(recorded, service.baseUrl)) {
    return { url: `${service.baseUrl.replace(/\/$/, '')}${call}`, headers: bearer(service.key?.reveal()) };
  }
  const preset = Object.entries(providerPresets).find(([, { baseUrl }]) => sameOrigin(baseUrl, recorded));
  if (preset === undefined) return `${url.origin} is not configured here: set it as the base URL`;
  const { key } = loadConfig({ flags: { provider: preset[0] } }).modelService;
  return { url: `${url.origin}${base}${call}`, headers: bearer(key?.reveal()) };
}

/** The header that sends a key; none without one. */
export function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function isConfigured(
  url: string,
  { modelService, embedding, rerank, qdrant, cohereBaseUrl }: AppConfig,
): boolean {
  const configured = [
    ...Object.values(providerPresets).map(({ baseUrl }) => baseUrl),
    COHERE_URL,
    modelService.baseUrl,
    embedding.service.baseUrl,
    qdrant.url,
    ...[cohereBaseUrl, rerank.baseUrl].filter((each) => each !== undefined),
  ];
  return isLoopbackHost(new URL(url).hostname) || configured.some((each) => sameOrigin(each, url));
}
