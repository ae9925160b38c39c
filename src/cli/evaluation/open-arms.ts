import { createHash } from 'node:crypto';
import type { App } from '../../app/create-app.ts';
import { createModel } from '../../app/models.ts';
import { createCollectionAgent } from '../../app/open-agent.ts';
import { createMemorySessionStore } from '../../app/sessions.ts';
import type { Config } from '../../config/load-config.ts';
import { type AgentConfig, agentConfigSchema } from '../../domain/agent-config.ts';
import type { SearchMode } from '../../domain/choices.ts';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import type { Arm } from '../../evaluation/report/report-data.ts';
import type { CheckAnswer } from '../../evaluation/run/checks.ts';
import type { AskModel, JudgeModel } from '../../evaluation/run/judge.ts';
import type { ArmPlan } from '../../evaluation/run/plan-arms.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import type { OpenArm } from '../../evaluation/run/run-arms.ts';
import { runCase } from '../../evaluation/run/run-case.ts';
import { AppError } from '../../faults/app-error.ts';
import { validated } from '../../faults/validated.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { TapeRun } from '../../tape/tape-run.ts';
import { oneLine } from '../../text/visible-text.ts';

const LONGEST_SHOWN = 120;
const MODES: readonly string[] = ['hybrid', 'dense', 'lexical'];

/** An arm with its settings in full, checked. */
interface SettledArm extends Pick<Arm, 'name' | 'settings' | 'otherSettings' | 'changed'> {
  app: App;
}

/** What holds where an arm says nothing else. */
export interface InForce {
  mode: SearchMode;
  rerank: boolean;
  scoreThreshold: number;
}

/** The settings of an arm: those in force, with what it changes. Throws `invalid_input`. */
export function settleArm({ name, changed }: ArmPlan, app: App, inForce: InForce): SettledArm {
  const { mode = inForce.mode, rerank = inForce.rerank, ...settings } = changed;
  if (!MODES.includes(String(mode))) refuse(name, `mode must be ${MODES.join(', ')}`);
  if (typeof rerank !== 'boolean') refuse(name, 'rerank must be on or off');
  const unknown = Object.keys(settings).find(
    (setting) =>
      !Object.hasOwn(app.config.agent, setting) && setting !== 'scoreThreshold' && setting !== 'baseUrl',
  );
  if (Object.hasOwn(settings, 'collection')) refuse(name, 'all arms ask the same collection');
  if (unknown !== undefined) refuse(name, `there is no setting "${unknown}"`);
  const { scoreThreshold = inForce.scoreThreshold, ...rest } = validated(
    agentConfigSchema,
    { ...app.config.agent, ...settings },
    `The arm "${name}"`,
  );
  const agent = { ...rest, scoreThreshold };
  const { modelService } = app.config;
  const config: Config = {
    ...app.config,
    agent,
    rerank: { ...app.config.rerank, on: rerank === true },
    modelService:
      typeof settings.baseUrl === 'string' ? { ...modelService, baseUrl: settings.baseUrl } : modelService,
  };
  return {
    name,
    // A prompt is told by how it begins.
    changed: Object.fromEntries(
      Object.entries(changed).map(([setting, value]) => [
        setting,
        typeof value === 'string' ? oneLine(value, LONGEST_SHOWN) : value,
      ]),
    ),
    settings: {
      model: agent.model,
      policy: agent.policy,
      mode: mode as SearchMode,
      topK: agent.topK,
      scoreThreshold,
      rerank: rerank === true,
      temperature: agent.temperature,
      maxSteps: agent.maxSteps,
    },
    otherSettings: otherSettings(agent, config),
    app: app.withConfig(config),
  };
}

/** They decide no answer, or are told elsewhere. */
const LEFT_OUT = new Set<string>([
  'model',
  'policy',
  'topK',
  'scoreThreshold',
  'temperature',
  'maxSteps',
  'collection',
  'verbose',
  'stream',
]);

/** What else decides an answer. A prompt is long, and whether it is the same is all that a later run asks. */
function otherSettings(agent: AgentConfig, { rerank }: Config): Arm['otherSettings'] {
  const hashed = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
  const { systemPrompt, abstentionPhrases, ...rest } = agent;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => !LEFT_OUT.has(name))),
    systemPrompt: hashed(systemPrompt),
    abstentionPhrases: hashed(JSON.stringify(abstentionPhrases)),
    ...(rerank.on && { reranker: rerank.judge ? 'judge' : (rerank.directory ?? rerank.model ?? 'cohere') }),
  };
}

interface Shared {
  store: ChunkStore;
  readSource: boolean;
  priceOf: PriceOf;
  judge?: JudgeModel | undefined;
  check?: CheckAnswer | undefined;
  tape: TapeRun | null;
}

/** An agent for the arm. The collection, the embedder and its thread are those of all arms. */
export async function openArm(
  arm: SettledArm,
  { store, readSource, priceOf, judge, check, tape }: Shared,
): Promise<OpenArm> {
  const { config } = arm.app;
  const sessions = createMemorySessionStore();
  const agent = await createCollectionAgent(arm.app, {
    store,
    sessions,
    mode: arm.settings.mode,
    readSource,
  });
  const dependencies = {
    agent: tape?.observe(agent) ?? agent,
    config: config.agent,
    collection: store.name,
    sessions,
    runtime: arm.app.runtime,
    priceOf,
    judge,
    check,
  };
  return { name: arm.name, ask: (item, repeat, signal) => runCase(item, repeat, dependencies, signal) };
}

function refuse(name: string, fault: string): never {
  throw new AppError('invalid_input', `The arm "${name}" cannot be run: ${fault}.`);
}

interface JudgeOptions {
  times: number;
  /** Instead of the configured model and its service. */
  model?: string | undefined;
  baseUrl?: string | undefined;
  priceOf: PriceOf;
}

/** Throws `configuration_error` for the offline model, which cannot judge. */
export async function openJudge(
  app: App,
  { times, model = app.config.agent.model, baseUrl, priceOf }: JudgeOptions,
): Promise<JudgeModel> {
  const { config } = app;
  const modelService = baseUrl === undefined ? config.modelService : { ...config.modelService, baseUrl };
  const agent = { ...config.agent, model, baseUrl: baseUrl ?? config.agent.baseUrl };
  const ask = await openModelPrompt(app.withConfig({ ...config, agent, modelService }));
  return { model, times, ask, priceOf: (tokens) => priceOf(model, tokens) };
}

/** Sends single prompts to the configured model. Throws `configuration_error` for the offline model. */
export async function openModelPrompt(app: App): Promise<AskModel> {
  if (app.config.agent.model === OFFLINE_MODEL) {
    throw new AppError('configuration_error', 'The offline model cannot judge answers.', {
      hint: 'Name another model with --judge-model, or omit --judge.',
    });
  }
  const judging = await createModel(app, app.runtime);
  return async (systemInstructions, prompt, signal) => {
    const { output, usage } = await judging.getResponse({
      systemInstructions,
      input: [{ role: 'user', content: prompt }],
      modelSettings: { temperature: 0 },
      tools: [],
      handoffs: [],
      outputType: 'text',
      tracing: false,
      signal,
    });
    const { inputTokens, outputTokens, totalTokens } = usage;
    const text = output
      .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
      .map((part) => (part.type === 'output_text' ? part.text : ''))
      .join('');
    return { text, tokens: { prompt: inputTokens, completion: outputTokens, total: totalTokens } };
  };
}
