import type { Model } from '@openai/agents';
import { LLAMA_ADDRESS, modelNameOf } from '../adapters/llama/llama-service.ts';
import {
  isPlainlyPath,
  namesFile,
  nearestModelFile,
  noModelFile,
} from '../adapters/llama/models-directory.ts';
import type { Judgement, PassageJudge } from '../adapters/offline/answer-from-passages.ts';
import { createOfflineModel } from '../adapters/offline/offline-model.ts';
import type { OpenAiModelOptions } from '../adapters/openai/create-openai-model.ts';
import type { FaultContext } from '../agent/guards/to-app-error.ts';
import type { FindJudge } from '../agent/turn-judge.ts';
import { runsHere } from '../domain/agent-config.ts';
import { isModelFile, OFFLINE_MODEL } from '../domain/choices.ts';
import { advice, setting, settingOf } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { chanceOfAny } from '../judge/create-judge.ts';
import { innerService } from '../ports/inner-service.ts';
import type { Runtime } from '../ports/runtime.ts';
import { isReplaying } from '../tape/replay-tape.ts';
import { passageUnits } from '../text/passage-units.ts';
import type { App } from './create-app.ts';
import { usableModelFile } from './model-files.ts';
import { configuredSecrets } from './run-settings.ts';

const MODEL_TIMEOUT_MS = 120_000;
/** A model of this machine may take its time to be loaded and to read: a turn has a limit of its own. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The configured model on its own. Throws `auth_error` where it needs a key. */
export async function createModel(
  app: App,
  runtime: Runtime,
  findJudge: FindJudge = app.judge,
): Promise<Model> {
  assertModelNamed(app);
  if (app.config.agent.model === OFFLINE_MODEL)
    return createOfflineModel({ judge: createPassageJudge(findJudge), newId: runtime.newId });
  const { createOpenAiModel } = await import('../adapters/openai/create-openai-model.ts');
  return createOpenAiModel(
    isModelFile(app.config.agent.model) ? await modelFileOptions(app) : await openAiModelOptions(app),
  );
}

/** Whoever names a provider does not want to be answered by the model that needs none. */
export function assertModelNamed({ config }: App): void {
  const { provider } = config.origins;
  if (provider === undefined || config.origins.model || config.agent.model !== OFFLINE_MODEL) return;
  throw new AppError('configuration_error', `A provider is named (${provider}), but none of its models.`, {
    hint: advice`Name one with ${setting('model', 'the setting model')} or OPENAI_MODEL.`,
  });
}

/** Throws what is missing for the configured model to be called at all. */
export async function assertModelUsable(app: App): Promise<void> {
  assertModelNamed(app);
  if (!runsHere(app.config.agent.model)) await openAiModelOptions(app);
  else if (isModelFile(app.config.agent.model) && !isReplaying()) await usableModelFile(app.config);
}

/** A model of a file is asked as a service is. From a tape neither the file nor the engine is needed. */
async function modelFileOptions(app: App): Promise<OpenAiModelOptions> {
  const { model, maxEventBytes, maxAnswerCharacters } = app.config.agent;
  const open = () => app.modelFiles.open(app.config);
  if (!isReplaying()) (await open()).warm();
  return {
    model: modelNameOf(model),
    baseUrl: LLAMA_ADDRESS,
    api: 'chat_completions',
    timeoutMs: NO_TIMEOUT_MS,
    maxEventBytes,
    maxAnswerCharacters,
    fetch: innerService(async (...call) => (await open()).fetch(...call)),
  };
}

/**
 * How the configured model is called. Throws `auth_error` where it is known to need a key and there is none, and
 * `configuration_error` for the path of what is no model.
 */
export async function openAiModelOptions(app: App): Promise<OpenAiModelOptions> {
  const { model, api, maxEventBytes, maxAnswerCharacters } = app.config.agent;
  const { baseUrl, key, keyVariable, needsKey } = app.config.modelService;
  const lacksKey = needsKey && key === undefined;
  // A server of one's own may call its models by paths.
  if (app.config.agent.baseUrl === undefined && (isPlainlyPath(model) || (lacksKey && namesFile(model))))
    throw noModelFile(model);
  if (lacksKey) {
    const nearest = await nearestModelFile(model, app.config.ggufDir);
    const set = nearest === undefined ? 'Set' : `Did you mean ${nearest}? If not, set`;
    throw new AppError('auth_error', `The model ${model} needs a key, and ${keyVariable} is not set.`, {
      hint: advice`${set} ${keyVariable} in the environment or in .env, name a server with ${setting('baseUrl')}, or use ${settingOf('model', OFFLINE_MODEL, `the model ${OFFLINE_MODEL}`)}.`,
    });
  }
  return {
    model,
    baseUrl,
    api,
    apiKey: key?.reveal(),
    timeoutMs: MODEL_TIMEOUT_MS,
    maxEventBytes,
    maxAnswerCharacters,
  };
}

/** What sentences about faults of the model name. */
export function faultContext(app: App): FaultContext {
  const { model } = app.config.agent;
  if (runsHere(model)) return { model };
  const { baseUrl, keyVariable } = app.config.modelService;
  return { model, baseUrl, keyVariable, secrets: configuredSecrets(app.config) };
}

/** The judge of the turns, for the model that answers with passages alone. What one of them has read serves the other. */
export function createPassageJudge(findJudge: FindJudge): PassageJudge {
  return {
    async judge(question, passages) {
      const judge = await findJudge().catch(() => null);
      if (judge === null) return null;
      const found = passages.map((passage, index) => ({
        passage,
        rank: index + 1,
        score: passage.score,
        units: passageUnits(passage.text).map((unit) => ({ ...unit, passage })),
      }));
      const chances = await judge.passages(question, found);
      const judgements: Judgement[] = [];
      for (const [index, { units }] of found.entries()) {
        const answers = await judge.answers(question, units);
        const unit = units[answers.indexOf(Math.max(...answers))] ?? null;
        judgements.push({ chance: chances[index] ?? 0, unit });
      }
      return judgements;
    },
    chanceOfAny,
  };
}
