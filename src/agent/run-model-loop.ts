import {
  Agent,
  type AgentInputItem,
  type AgentOutputType,
  type Model,
  Runner,
  type RunStreamEvent,
  type Tool,
} from '@openai/agents-core';
import type { ZodObject } from 'zod';
import type { MarkerNumbers } from '../citations/marker-numbers.ts';
import { type AgentConfig, isLocalModel } from '../domain/agent-config.ts';
import type { ToolCall } from '../domain/conversation-message.ts';
import { failedToolResponse, formatToolResponse } from '../domain/retrieval-tool-response.ts';
import { advice, withSetting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { createVisibleStream, visibleText } from '../text/visible-text.ts';
import { isTextDiscarded } from './guards/with-retries.ts';
import { finishReasonOf, responseTokens, type StreamedResponse } from './model-response.ts';
import { joinTexts } from './structured-output.ts';
import { wrapInvalidJson } from './tool-arguments.ts';
import type { TurnEvents, TurnRecord } from './turn-record.ts';

/** Extra steps for a model that calls tools it no longer has. */
const GRACE_STEPS = 2;

interface ModelLoopOptions {
  config: AgentConfig;
  model: Model;
  instructions: string;
  /** The history, then the prompt. */
  input: AgentInputItem[];
  tools: Tool[];
  /** The tool that the first step must call. */
  forcedTool: string | undefined;
  tracing: boolean;
  /** The model answers with an object of this schema. */
  outputSchema?: ZodObject | undefined;
  record: TurnRecord;
  events: TurnEvents;
  /** Numbers the sources in the text that is shown. Messages keep the refs that the model writes. */
  numbers: MarkerNumbers;
  /** Called with the text so far when a line or a bracket begins; not for the offline model, whose quotes need no preparation. */
  onText?: ((text: string) => void) | undefined;
  signal: AbortSignal;
}

interface WrittenAnswer {
  /** The answer, or the texts of the output as paragraphs. */
  text: string;
  /** Set if and only if there is an output schema. */
  output?: unknown;
}

/** Runs the SDK's agent loop and returns the model's answer, not yet checked. Throws what the model or the SDK throws. */
export async function runModelLoop(options: ModelLoopOptions): Promise<WrittenAnswer> {
  const { config, outputSchema, tools, forcedTool, record, events, signal } = options;
  const toolNames = tools.map(({ name }) => name);
  events.enterPhase('generating');
  const agent = new Agent<unknown, AgentOutputType>({
    name: 'citeloop',
    instructions: options.instructions,
    model: recordSteps(options.model, record),
    modelSettings: {
      temperature: config.temperature,
      maxTokens: config.maxTokens,
      ...(forcedTool !== undefined && { toolChoice: forcedTool }),
    },
    tools,
    outputType: outputSchema ?? 'text',
  });
  const runner = new Runner({
    tracingDisabled: !options.tracing,
    // Refs are numbered in the order of the calls, so that a replay gives the same ones.
    toolExecution: { maxFunctionToolConcurrency: 1 },
    toolNotFoundBehavior: 'return_error_to_model',
    toolErrorFormatter: ({ kind, toolName }) =>
      kind === 'tool_not_found' ? describeUnknownTool(toolName, toolNames) : undefined,
  });
  const stream = await runner.run(agent, options.input, {
    stream: true,
    maxTurns: config.maxSteps + GRACE_STEPS,
    // A sentence is no structured output: without steps left, the SDK throws.
    ...(outputSchema === undefined && {
      errorHandlers: {
        maxTurns: () => {
          record.finishReason = 'max_steps';
          return {
            finalOutput: `I could not come to an answer within ${config.maxSteps} steps.`,
            includeInHistory: false,
          };
        },
      },
    }),
    signal,
  });
  await forwardStream(stream, options);
  signal.throwIfAborted();
  await stream.completed;

  const output: unknown = stream.finalOutput;
  const text = visibleText(joinTexts(output)).trim();
  if (outputSchema !== undefined) return { text: text || JSON.stringify(output), output };
  if (text !== '') return { text };
  throw new AppError('api_error', `The model ${config.model} gave an empty answer.`, {
    hint: advice`Ask again, or choose another model${withSetting('model')}.`,
    recoverable: true,
  });
}

/** Records each streamed response as a step, and wraps tool arguments that are not JSON. */
function recordSteps(model: Model, record: TurnRecord): Model {
  return {
    getResponse: (request) => model.getResponse(request),
    async *getStreamedResponse(request) {
      record.beginStep();
      for await (const event of model.getStreamedResponse(request)) {
        if (event.type !== 'response_done') {
          yield event;
          continue;
        }
        const { response } = event;
        record.countTokens(responseTokens(request, response));
        record.finishReason = finishReasonOf(response);
        yield { ...event, response: { ...response, output: response.output.map(withJsonArguments) } };
      }
    },
  };
}

function withJsonArguments(item: StreamedResponse['output'][number]): StreamedResponse['output'][number] {
  return item.type === 'function_call' ? { ...item, arguments: wrapInvalidJson(item.arguments) } : item;
}

/** Emits text and tool calls as they arrive, and records tool calls and their results as messages. */
async function forwardStream(
  stream: AsyncIterable<RunStreamEvent>,
  { config, record, events, numbers, outputSchema, onText }: ModelLoopOptions,
): Promise<void> {
  const calls = new Map<string, ToolCall>();
  let unrecorded: ToolCall[] = [];
  let text = '';
  let visible = createVisibleStream();
  const addText = (delta: string) => {
    if (delta === '') return;
    text += delta;
    if (outputSchema === undefined && !isLocalModel(config.model) && /[[\n]/.test(delta)) onText?.(text);
    events.enterPhase('generating');
    // A list of numbers in JSON is not a marker.
    show(outputSchema === undefined ? numbers.push(delta) : delta);
  };
  const show = (shown: string) => {
    if (shown !== '') events.emit({ type: 'text_delta', delta: shown });
  };
  for await (const event of stream) {
    if (event.type === 'raw_model_stream_event') {
      if (event.data.type === 'output_text_delta') addText(visible.push(event.data.delta));
      if (isTextDiscarded(event.data)) {
        text = '';
        visible = createVisibleStream();
        numbers.reset();
        events.emit({ type: 'text_discarded' });
      }
    }
    if (event.type !== 'run_item_stream_event') continue;
    const { item } = event;
    addText(visible.end());
    if (item.type === 'tool_call_item' && item.rawItem.type === 'function_call') {
      const call = { id: item.rawItem.callId, name: item.rawItem.name, arguments: item.rawItem.arguments };
      calls.set(call.id, call);
      unrecorded.push(call);
      show(numbers.end());
      numbers.reset();
      events.emit({ type: 'tool_call', call });
    } else if (item.type === 'tool_call_output_item' && item.rawItem.type === 'function_call_result') {
      // All calls of a response precede the first result: they are one message.
      if (unrecorded.length > 0) record.addToolCalls(text, unrecorded);
      unrecorded = [];
      text = '';
      const call = calls.get(item.rawItem.callId);
      const { output } = item;
      if (call !== undefined)
        record.addToolResult(call, typeof output === 'string' ? output : JSON.stringify(output));
      events.enterPhase('generating');
    }
  }
  addText(visible.end());
  show(numbers.end());
}

/** The result of a call to a tool that does not exist, or no longer in this turn. */
function describeUnknownTool(name: string, toolNames: readonly string[]): string {
  const message = toolNames.includes(name)
    ? `The tool ${name} cannot be called any more in this turn. Answer with what you have.`
    : `There is no tool ${name}. Use the tools that there are, or answer.`;
  return formatToolResponse(failedToolResponse('unknown_tool', message));
}
