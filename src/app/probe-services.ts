import {
  MODEL_FILES,
  type ModelFile,
  readModelFile,
  resolveModelLocation,
} from '../adapters/onnx/weights.ts';
import { probeModelAbilities as askModel } from '../adapters/openai/probe-model.ts';
import { toAppError } from '../agent/guards/model-errors.ts';
import type { AppConfig } from '../config/load-config.ts';
import type { Secret } from '../config/secret.ts';
import { COHERE_URL } from '../config/service-access.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { findNetworkCode, getField } from '../faults/network-errors.ts';
import { classifyHttpStatus } from '../faults/service-errors.ts';
import { bearer } from './configured-services.ts';
import type { App } from './create-app.ts';
import { assertModelConfigured, createModelErrorContext, openAiModelOptions } from './create-model.ts';

const TIMEOUT_MS = 10_000;

/** Reads every file of the embedding model; `isDownloadable` if missing ones are downloaded on first use. Throws if one is damaged. */
export async function checkModelWeights({ cache, modelDir }: AppConfig) {
  const { directory, isDownloadable } = resolveModelLocation(cache, modelDir);
  const files = Object.keys(MODEL_FILES) as ModelFile[];
  const missing: string[] = [];
  for (const file of files) if ((await readModelFile(directory, file)) === null) missing.push(file);
  return { directory, isDownloadable, missing, empty: missing.length === files.length };
}

/** Tests the configured model with one small call. Throws an AppError that says what is wrong. */
export async function probeConfiguredModel(app: App) {
  await assertModelConfigured(app);
  const options = openAiModelOptions(app);
  const abilities = await askModel(options).catch((error: unknown) => {
    throw toAppError(error, createModelErrorContext(app));
  });
  return { ...abilities, model: options.model, host: new URL(options.baseUrl).host, api: options.api };
}

interface ServiceSettings {
  model: { key: Secret | undefined; keyVariable: string; baseUrl: string } | undefined;
  cohere: { key: Secret | undefined; baseUrl: string | undefined };
  qdrant: { key: Secret | undefined; url: string } | undefined;
}

interface ServiceProbe {
  name: string;
  /** Resolves to a sentence for the user; throws an AppError with a hint. */
  probe: () => Promise<string>;
}

/** A probe for each configured service: whether it answers and accepts the key. */
export function probeServices({ model, cohere, qdrant }: ServiceSettings): ServiceProbe[] {
  const probes: ServiceProbe[] = [];
  if (model !== undefined) {
    const url = `${withoutSlash(model.baseUrl)}/models`;
    probes.push(request('model service', url, model.keyVariable, () => bearer(model.key?.reveal())));
  }
  if (cohere.key !== undefined) {
    const url = `${withoutSlash(cohere.baseUrl ?? COHERE_URL)}/v1/models`;
    probes.push(request('cohere', url, 'COHERE_API_KEY', () => bearer(cohere.key?.reveal())));
  }
  if (qdrant !== undefined) {
    const headers = (): Record<string, string> =>
      qdrant.key === undefined ? {} : { 'api-key': qdrant.key.reveal() };
    probes.push(request('qdrant', `${withoutSlash(qdrant.url)}/collections`, 'QDRANT_API_KEY', headers));
  }
  return probes;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function request(
  name: string,
  url: string,
  keyName: string,
  headersOf: () => Record<string, string>,
): ServiceProbe {
  return {
    name,
    async probe() {
      const { origin } = new URL(url);
      const headers = headersOf();
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
        (error: unknown) => {
          throw new AppError('configuration_error', `Cannot reach ${origin} (${reasonOf(error)}).`, {
            hint: 'Check the address, that the service is running, and the network.',
            cause: error,
          });
        },
      );
      await response.body?.cancel();
      if (response.ok)
        return `${origin} answers${Object.keys(headers).length > 0 ? ' and accepts the key' : ''}`;
      if (classifyHttpStatus(response.status).kind === 'auth_error') {
        throw new AppError('auth_error', `${origin} refuses the key (HTTP ${response.status}).`, {
          hint: `Check ${keyName} in the environment or in .env.`,
        });
      }
      throw new AppError('configuration_error', `${origin} answers with HTTP ${response.status}.`, {
        hint: 'Check the host and path of the address.',
      });
    },
  };
}

function reasonOf(error: unknown): string {
  if (getField(error, 'name') === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  return findNetworkCode(error) ?? messageOf(error);
}
