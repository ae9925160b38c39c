import { OFFLINE_MODEL } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import { judgeRun } from '../../evaluation/run/judge.ts';
import type { Judge } from '../../evaluation/run/run-case.ts';
import type { App } from '../../wire.ts';
import { createModel } from '../../wire-agent.ts';

/** The configured model as a judge of faithfulness. Throws `configuration_error` for one that cannot judge. */
export async function openJudge(
  app: App,
  times: number,
): Promise<{ judge: Judge; times: number; model: string }> {
  const { model } = app.config.agent;
  if (model === OFFLINE_MODEL) {
    throw new AppError('configuration_error', 'The offline model cannot judge answers.', {
      hint: 'Name a model that can with --model, or leave --judge out: the other metrics need no model.',
    });
  }
  const judging = await createModel(app, app.runtime);
  const ask = async (systemInstructions: string, prompt: string, signal: AbortSignal) => {
    const { output } = await judging.getResponse({
      systemInstructions,
      input: [{ role: 'user', content: prompt }],
      modelSettings: { temperature: 0 },
      tools: [],
      handoffs: [],
      outputType: 'text',
      tracing: false,
      signal,
    });
    return output
      .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? item.content : []))
      .map((part) => (part.type === 'output_text' ? part.text : ''))
      .join('');
  };
  return {
    times,
    model,
    judge: (item, run, passages, signal) => judgeRun(item, run, passages, { ask, times }, signal),
  };
}
