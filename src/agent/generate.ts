import { Agent, type AgentInputItem, type Model, Runner, type RunStreamEvent } from '@openai/agents-core';
import type { ToolCall } from '../domain/conversation-message.ts';
import { failedToolResponse, type RetrievalToolResponse } from '../domain/retrieval-tool-response.ts';
import { advice, bySetting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { createVisibleStream } from '../text/visible-stream.ts';
import { visibleText } from '../text/visible-text.ts';
import { READ_SOURCE } from './agent.ts';
import { inputItems } from './model-input.ts';
import { policies } from './policies.ts';
import { createReadSourceTool } from './tools/read-source.ts';
import { createSearchTool } from './tools/search-tool.ts';
import type { TurnState } from './turn-state.ts';
import { watchSteps } from './watch-steps.ts';

/** A model that insists on calling tools it no longer has is stopped here. */
const GRACE_STEPS = 2;

interface ModelInput {
  model: Model;
  /** What the model is told before any conversation. */
  instructions: string;
  /** The question, as the policy puts it. */
  prompt: string;
}

/**
 * Has the model answer through the SDK's loop, with the tools that the policy gives it. What it writes is not yet
 * checked. Throws what the model or the loop throws.
 */
export async function generate(turn: TurnState, given: ModelInput): Promise<string> {
  const { config, record, progress, signal } = turn;
  progress.enter('generating');
  const runner = new Runner({
    tracingDisabled: !turn.tracing,
    toolNotFoundBehavior: 'return_error_to_model',
    toolErrorFormatter: ({ kind, toolName }) =>
      kind === 'tool_not_found' ? JSON.stringify(unknownTool(toolName, turn)) : undefined,
  });
  const input: AgentInputItem[] = [...inputItems(turn.history), { role: 'user', content: given.prompt }];
  const stream = await runner.run(createSdkAgent(turn, given), input, {
    stream: true,
    maxTurns: config.maxSteps + GRACE_STEPS,
    errorHandlers: {
      maxTurns: () => {
        record.outOfSteps();
        return {
          finalOutput: `I could not come to an answer within ${config.maxSteps} steps.`,
          includeInHistory: false,
        };
      },
    },
    signal,
  });
  await follow(stream, turn);
  signal.throwIfAborted();
  await stream.completed;

  const answer = typeof stream.finalOutput === 'string' ? visibleText(stream.finalOutput).trim() : '';
  if (answer !== '') return answer;
  throw new AppError('api_error', `The model ${config.model} gave an empty answer.`, {
    hint: advice`Ask again, or choose another model${bySetting('model')}.`,
    recoverable: true,
  });
}

function createSdkAgent(turn: TurnState, { model, instructions }: ModelInput): Agent {
  const { config, readSource, record } = turn;
  const { tool } = policies[turn.policy];
  return new Agent({
    name: 'citeloop',
    instructions,
    model: watchSteps(model, record),
    modelSettings: {
      temperature: config.temperature,
      maxTokens: config.maxTokens,
      ...(tool === 'forced' && { toolChoice: config.toolName }),
    },
    tools:
      tool === 'withheld'
        ? []
        : [createSearchTool(turn), ...(readSource ? [createReadSourceTool(turn)] : [])],
  });
}

/** Goes through what the loop does: text and tool calls are passed on as they come, and kept as messages. */
async function follow(stream: AsyncIterable<RunStreamEvent>, turn: TurnState): Promise<void> {
  const { record, progress, judge, sources } = turn;
  const calls = new Map<string, ToolCall>();
  let unrecorded: ToolCall[] = [];
  let text = '';
  // Whoever reads the events, and in whatever form, gets no escapes.
  const visible = createVisibleStream();
  const say = (delta: string) => {
    if (delta === '') return;
    text += delta;
    progress.enter('generating');
    progress.emit({ type: 'text_delta', delta });
    judge.judgeAlong(text, sources);
  };
  for await (const event of stream) {
    if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
      say(visible.push(event.data.delta));
    if (event.type !== 'run_item_stream_event') continue;
    const { item } = event;
    say(visible.end());
    if (item.type === 'tool_call_item' && item.rawItem.type === 'function_call') {
      const call = { id: item.rawItem.callId, name: item.rawItem.name, arguments: item.rawItem.arguments };
      calls.set(call.id, call);
      unrecorded.push(call);
      progress.emit({ type: 'tool_call', call });
    } else if (item.type === 'tool_call_output_item' && item.rawItem.type === 'function_call_result') {
      // All calls of an answer are known before the first result: they are one message.
      if (unrecorded.length > 0) record.toolCalls(text, unrecorded);
      unrecorded = [];
      text = '';
      const call = calls.get(item.rawItem.callId);
      if (call !== undefined) record.toolResult(call, outputText(item.output));
      progress.enter('generating');
    }
  }
  say(visible.end());
}

/** For a model that calls what there is not, or what it has no longer. */
function unknownTool(name: string, { config, policy }: TurnState): RetrievalToolResponse {
  const isOurs = policies[policy].tool !== 'withheld' && [config.toolName, READ_SOURCE].includes(name);
  return failedToolResponse(
    'unknown_tool',
    isOurs
      ? `The tool ${name} cannot be called any more in this turn. Answer with what you have.`
      : `There is no tool ${name}. Use the tools that there are, or answer.`,
  );
}

function outputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
