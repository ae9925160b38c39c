import type { RunStreamEvent } from '@openai/agents-core';
import type { ToolCall } from '../domain/conversation-message.ts';
import type { RunEvent } from '../domain/run-event.ts';
import type { TurnRecord } from './turn-record.ts';

/** Goes through what the SDK's loop does: text and tool calls are passed on as they come, and kept as messages. */
export async function followRun(
  stream: AsyncIterable<RunStreamEvent>,
  record: Pick<TurnRecord, 'toolCalls' | 'toolResult'>,
  emit: (event: RunEvent) => void,
  onGenerating: () => void,
): Promise<void> {
  const calls = new Map<string, ToolCall>();
  let unrecorded: ToolCall[] = [];
  let text = '';
  for await (const event of stream) {
    if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') {
      const { delta } = event.data;
      text += delta;
      onGenerating();
      emit({ type: 'text_delta', delta });
    }
    if (event.type !== 'run_item_stream_event') continue;
    const { item } = event;
    if (item.type === 'tool_call_item' && item.rawItem.type === 'function_call') {
      const call = { id: item.rawItem.callId, name: item.rawItem.name, arguments: item.rawItem.arguments };
      calls.set(call.id, call);
      unrecorded.push(call);
      emit({ type: 'tool_call', call });
    } else if (item.type === 'tool_call_output_item' && item.rawItem.type === 'function_call_result') {
      // All calls of an answer are known before the first result: they are one message.
      if (unrecorded.length > 0) record.toolCalls(text, unrecorded);
      unrecorded = [];
      text = '';
      const call = calls.get(item.rawItem.callId);
      if (call !== undefined) record.toolResult(call, outputText(item.output));
      onGenerating();
    }
  }
}

function outputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
