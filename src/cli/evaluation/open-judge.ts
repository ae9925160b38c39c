import type { App } from '../../app/create-app.ts';
import { createModel } from '../../app/models.ts';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import type { AskModel, JudgeModel } from '../../evaluation/run/judge.ts';
import type { PriceOf } from '../../evaluation/run/prices.ts';
import { AppError } from '../../faults/app-error.ts';

interface JudgeOptions {
  times: number;
  /** Instead of the configured model and its server. */
  model?: string | undefined;
  baseUrl?: string | undefined;
  priceOf: PriceOf;
}

/** Throws `configuration_error` for the offline model. */
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
  const model = await createModel(app, app.runtime);
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
