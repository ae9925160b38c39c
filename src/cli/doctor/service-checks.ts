import { type ModelAbilities, probeModel } from '../../adapters/openai/probe-model.ts';
import { probeServices } from '../../adapters/services/probe-services.ts';
import { toAppError } from '../../agent/model-faults/to-app-error.ts';
import { OFFLINE_MODEL } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import type { App } from '../../wire.ts';
import { assertModelNamed, faultContext, openAiModelOptions } from '../../wire-agent.ts';
import { type Check, check } from './check.ts';

/** Every service that is configured. The model is asked for one tiny answer; the others only whether they are there. */
export async function serviceChecks(app: App): Promise<Check[]> {
  const { agent, modelService, secrets, rerank, store, qdrant } = app.config;
  const isHosted = agent.model !== OFFLINE_MODEL || app.config.origins.provider !== undefined;
  const probes = probeServices({
    // One that answers needs no further question.
    model: isHosted || !(modelService.key || agent.baseUrl) ? undefined : modelService,
    cohere: { key: secrets.cohereApiKey?.reveal(), baseUrl: app.config.cohereBaseUrl },
    qdrant: store === 'qdrant' ? { key: secrets.qdrantApiKey?.reveal(), url: qdrant.url } : undefined,
  });
  return Promise.all([
    ...(isHosted ? [check('model', () => model(app))] : []),
    ...(rerank.on ? [check('reranker', () => reranker(app))] : []),
    ...probes.map(({ name, probe }) => check(name, probe)),
  ]);
}

async function model(app: App): Promise<string> {
  assertModelNamed(app);
  const options = openAiModelOptions(app);
  const abilities = await probeModel(options).catch((error: unknown) => {
    throw toAppError(error, faultContext(app));
  });
  const { host } = new URL(options.baseUrl);
  const said = `${options.model} at ${host} answers by ${options.api}: ${described(abilities)}`;
  if (abilities.tools) return said;
  throw new AppError('configuration_error', said, {
    hint: 'Without tools it cannot search by itself: use --policy always, or another model.',
  });
}

function described({ tools, streaming, usage }: ModelAbilities): string {
  return [
    tools ? 'calls tools' : 'did not call the tool it was asked to call',
    streaming ? 'streams' : 'does not stream',
    usage ? 'reports usage' : 'does not report usage',
  ].join(', ');
}

async function reranker(app: App): Promise<string> {
  const loaded = await app.reranker();
  const [best] = await loaded.rerank('What is a dog?', ['A dog is an animal.', 'Rain is water.'], 1);
  return `${loaded.id} answers; its best of two scores ${best?.score.toFixed(2)}`;
}
