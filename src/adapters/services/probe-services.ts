import { AppError } from '../../domain/app-error.ts';

const TIMEOUT_MS = 10_000;

export interface ServiceSettings {
  model: { key: { reveal(): string } | undefined; keyVariable: string; baseUrl: string } | undefined;
  cohere: { key: string | undefined; baseUrl: string | undefined };
  qdrant: { key: string | undefined; url: string } | undefined;
}

export interface ServiceProbe {
  name: string;
  /** Resolves to what was found; throws an AppError that says what to do. */
  probe: () => Promise<string>;
}

/** A probe for every service that is configured: is it there, and does it take the key? */
export function probeServices({ model, cohere, qdrant }: ServiceSettings): ServiceProbe[] {
  const probes: ServiceProbe[] = [];
  if (model !== undefined) {
    const url = `${withoutSlash(model.baseUrl)}/models`;
    probes.push(request('model service', url, model.keyVariable, bearer(model.key?.reveal())));
  }
  if (cohere.key !== undefined) {
    const url = `${withoutSlash(cohere.baseUrl ?? 'https://api.cohere.com')}/v1/models`;
    probes.push(request('cohere', url, 'COHERE_API_KEY', bearer(cohere.key)));
  }
  if (qdrant !== undefined) {
    const headers: Record<string, string> = qdrant.key === undefined ? {} : { 'api-key': qdrant.key };
    probes.push(request('qdrant', `${withoutSlash(qdrant.url)}/collections`, 'QDRANT_API_KEY', headers));
  }
  return probes;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function request(name: string, url: string, keyName: string, headers: Record<string, string>): ServiceProbe {
  return {
    name,
    async probe() {
      const { origin } = new URL(url);
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
        (error: unknown) => {
          throw new AppError('configuration_error', `${origin} cannot be reached (${reasonOf(error)}).`, {
            hint: 'Check the address, that the service is running, and the network.',
            cause: error,
          });
        },
      );
      await response.body?.cancel();
      if (response.ok)
        return `${origin} answers${Object.keys(headers).length > 0 ? ' and accepts the key' : ''}`;
      if (response.status === 401 || response.status === 403) {
        throw new AppError('auth_error', `${origin} refuses the key (HTTP ${response.status}).`, {
          hint: `Check ${keyName} in the environment or in .env.`,
        });
      }
      throw new AppError('configuration_error', `${origin} answers with HTTP ${response.status}.`, {
        hint: 'Check the address: is it the right service and path?',
      });
    },
  };
}

function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  return name === 'TimeoutError' ? 'no answer within 10 s' : (cause?.code ?? message);
}
