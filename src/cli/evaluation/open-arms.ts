import { createHash } from 'node:crypto';
import type { App } from '../../app/create-app.ts';
import { createConfiguredModel } from '../../app/create-model.ts';
import { createCollectionAgent } from '../../app/open-agent.ts';
import { openMemorySessionStore } from '../../app/sessions.ts';
import { type AppConfig, parseCheck } from '../../config/load-config.ts';
import { type AgentConfig, agentConfigSchema, systemPromptFor } from '../../domain/agent-config.ts';
import {
  CHECKS,
  OFFLINE_MODEL,
  ONNX_PREFIX,
  SEARCH_MODES,
  type SearchMode,
} from '../../domain/setting-choices.ts';
import type { ReportArm } from '../../evaluation/report/report-data.ts';
import { type ArmFunction, loadFunction, runFunctionArm } from '../../evaluation/run/function-arm.ts';
import type { AskModel, GradeModel } from '../../evaluation/run/grade-model.ts';
import type { CalculatePrice } from '../../evaluation/run/model-prices.ts';
import type { ArmPlan } from '../../evaluation/run/plan-arms.ts';
import type { RunnableArm } from '../../evaluation/run/run-arms.ts';
import { type CaseDependencies, gradeRun, runCase } from '../../evaluation/run/run-case.ts';
import { AppError } from '../../faults/app-error.ts';
import { parseOrThrow } from '../../faults/parse-or-throw.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { RunObserver } from '../../tape/run-observer.ts';
import { oneLine } from '../../text/visible-text.ts';

const MAX_VALUE_LENGTH = 120;

/** An arm with all of its settings, and an app bound to them. */
interface ResolvedArm extends Pick<ReportArm, 'name' | 'settings' | 'otherSettings' | 'changed'> {
  app: App;
  /** Answers instead of the app. */
  ask?: ArmFunction;
}

type ArmSettings = NonNullable<ReportArm['settings']>;

/** Settings of arms that do not change them. */
type DefaultArmSettings = Pick<ArmSettings, 'mode' | 'rerank' | 'scoreThreshold'>;

/** The configured settings with the changes of an arm. Throws `invalid_input` for an unknown setting or value. */
export async function resolveArm(
  { name, changed, module }: ArmPlan,
  app: App,
  defaults: DefaultArmSettings,
): Promise<ResolvedArm> {
  if (module !== undefined) {
    const ask = await loadFunction<ArmFunction>(module);
    return { name, changed: { module }, settings: null, otherSettings: {}, app, ask };
  }
  const { mode = defaults.mode, rerank = defaults.rerank, check, ...changes } = changed;
  const reject = (problem: string): never => {
    throw new AppError('invalid_input', `Invalid arm "${name}": ${problem}.`);
  };
  const known = [...Object.keys(app.config.agent), 'scoreThreshold', 'baseUrl'];
  const unknown = Object.keys(changes).find((setting) => !known.includes(setting));
  if (!SEARCH_MODES.some((one) => one === mode)) reject(`mode must be ${SEARCH_MODES.join(', ')}`);
  if (typeof rerank !== 'boolean') reject('rerank must be on or off');
  // `off` is parsed as a boolean.
  const checkedBy =
    check === undefined
      ? app.config.check
      : parseCheck(check === false ? 'off' : String(check), app.config.home);
  if (checkedBy === null) reject(`check must be ${CHECKS.join(', ')} or ${ONNX_PREFIX}<directory>`);
  if (Object.hasOwn(changes, 'collection')) reject('all arms use the same collection');
  if (unknown !== undefined) reject(`unknown setting "${unknown}"`);
  const configured = { ...app.config.agent, ...changes };
  const { scoreThreshold = defaults.scoreThreshold, ...rest } = parseOrThrow(
    agentConfigSchema,
    configured,
    `The arm "${name}"`,
  );
  const agent = { ...rest, scoreThreshold };
  const reranker = app.config.rerank.by === 'off' ? 'words' : app.config.rerank.by;
  const { modelService, modelServiceAt } = app.config;
  const { baseUrl } = changes;
  const config: AppConfig = {
    ...app.config,
    agent,
    rerank: { ...app.config.rerank, by: rerank === true ? reranker : 'off' },
    check: checkedBy ?? app.config.check,
    modelService: typeof baseUrl === 'string' ? modelServiceAt(baseUrl) : modelService,
  };
  return {
    name,
    changed: Object.fromEntries(
      Object.entries(changed).map(([setting, value]) => [
        setting,
        typeof value === 'string' ? oneLine(value, MAX_VALUE_LENGTH) : value,
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
    otherSettings: toOtherSettings(agent, config),
    app: app.withConfig(config),
  };
}

/** Long texts are stored as a hash, because later runs only ask whether they changed. */
function toOtherSettings(agent: AgentConfig, { rerank, check }: AppConfig): ReportArm['otherSettings'] {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
  const { systemPrompt, abstentionPhrases, collection: _, verbose: __, stream: ___, ...rest } = agent;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    systemPrompt: hash(systemPromptFor({ systemPrompt }, agent.policy)),
    abstentionPhrases: hash(JSON.stringify(abstentionPhrases)),
    ...(check.by !== 'words' && { check: check.directory ?? check.by }),
    ...(rerank.by !== 'off' && { reranker: rerank.directory ?? rerank.model ?? rerank.by }),
  };
}

/** What all arms share. */
interface ArmDependencies extends Pick<CaseDependencies, 'priceOf' | 'grader' | 'check'> {
  store: ChunkStore;
  tape: RunObserver | null;
}

export async function openArm(
  { name, app, settings, ask }: ResolvedArm,
  { store, tape, ...shared }: ArmDependencies,
): Promise<RunnableArm> {
  if (ask !== undefined) {
    const { elapsedMs } = app.runtime;
    return {
      name,
      ask: async (item, repeat, signal) =>
        gradeRun(item, await runFunctionArm(ask, item, { repeat, signal, elapsedMs }), shared, signal),
    };
  }
  const sessions = await openMemorySessionStore();
  const agent = await createCollectionAgent(app, { store, sessions, mode: settings?.mode });
  const dependencies = {
    agent: tape?.observe(agent) ?? agent,
    config: app.config.agent,
    collection: store.name,
    sessions,
    runtime: app.runtime,
    ...shared,
  };
  return { name, ask: (item, repeat, signal) => runCase(item, repeat, dependencies, signal) };
}

interface GraderOptions {
  model: string;
  /** Instead of the server of the configured model. */
  baseUrl: string | undefined;
  priceOf: CalculatePrice;
}

/** Throws `configuration_error` for the offline model. */
export async function openGrader(app: App, { model, baseUrl, priceOf }: GraderOptions): Promise<GradeModel> {
  const { config } = app;
  const modelService = baseUrl === undefined ? config.modelService : config.modelServiceAt(baseUrl);
  const agent = { ...config.agent, model, baseUrl: baseUrl ?? config.agent.baseUrl };
  const ask = await openModelPrompt(app.withConfig({ ...config, agent, modelService }));
  return { model, ask, priceOf: (tokens) => priceOf(model, tokens) };
}

/** Sends single prompts to the configured model. Throws `configuration_error` for the offline model. */
export async function openModelPrompt(app: App): Promise<AskModel> {
  if (app.config.agent.model === OFFLINE_MODEL) {
    throw new AppError('configuration_error', 'The offline model cannot grade answers.', {
      hint: 'Name another model with --grade-model.',
    });
  }
  const model = await createConfiguredModel(app, app.runtime);
  return async (systemInstructions, prompt, signal) => {
    const { output, usage } = await model.getResponse({
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
