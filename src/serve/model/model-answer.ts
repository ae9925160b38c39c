import type { AgentOutputItem, Model, ModelRequest } from '@openai/agents-core';
import { inputItems } from '../../agent/input-items.ts';
import type { Answer, AnswerEvent } from '../wire/answer.ts';
import type { ModelCall } from '../wire/model-call.ts';

/** A model of the SDK asked once. Throws what the model throws. */
export async function modelAnswer(model: Model, call: ModelCall, signal: AbortSignal): Promise<Answer> {
  const { output, usage } = await model.getResponse(toModelRequest(call, signal));
  return toAnswer(output, usage);
}

/** The same as it is made. */
export async function* modelAnswerEvents(
  model: Model,
  call: ModelCall,
  signal: AbortSignal,
): AsyncGenerator<AnswerEvent> {
  for await (const event of model.getStreamedResponse(toModelRequest(call, signal))) {
    if (event.type === 'output_text_delta') yield { type: 'delta', text: event.delta };
    if (event.type === 'response_done') {
      yield {
        type: 'done',
        answer: toAnswer(event.response.output as AgentOutputItem[], event.response.usage),
      };
    }
  }
}

function toModelRequest(call: ModelCall, signal: AbortSignal): ModelRequest {
  return {
    ...(call.instructions !== '' && { systemInstructions: call.instructions }),
    input: inputItems(call.messages),
    modelSettings: {
      ...(call.temperature !== undefined && { temperature: call.temperature }),
      ...(call.maxTokens !== undefined && { maxTokens: call.maxTokens }),
      ...(call.toolChoice !== undefined && { toolChoice: call.toolChoice }),
    },
    tools: call.tools.map((tool) => ({
      type: 'function',
      ...tool,
      parameters: tool.parameters as never,
    })),
    outputType: 'text',
    handoffs: [],
    tracing: false,
    signal,
  };
}

interface SdkUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}

function toAnswer(output: readonly AgentOutputItem[], usage: SdkUsage): Answer {
  let text = '';
  const calls: Answer['calls'] = [];
  for (const item of output) {
    if (item.type === 'function_call') {
      calls.push({ id: item.callId, name: item.name, arguments: item.arguments });
    } else if ('role' in item && item.role === 'assistant') {
      text += item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
    }
  }
  return {
    text,
    citations: [],
    calls,
    usage: { prompt: usage.inputTokens, completion: usage.outputTokens, total: usage.totalTokens },
  };
}
