import type { ServerResponse } from 'node:http';

export interface ModelCapabilities {
  /** Calls tools if the request has any. */
  tools: boolean;
  /** Reports token usage. */
  usage: boolean;
  /** Streams if the request asks for it. */
  streaming: boolean;
}

interface Step {
  /** Either a tool call or a text. */
  call?: { name: string; arguments: string };
  text?: string;
}

interface Message {
  role?: string;
  type?: string;
  content?: unknown;
  output?: unknown;
}

const CALL_ID = 'call_1';
const NO_TOOLS = 'I cannot call tools.';

/** Responds like the Chat Completions API: searches for the question, then answers with the first sentence found. */
export function answerChat(
  body: Record<string, unknown>,
  response: ServerResponse,
  traits: ModelCapabilities,
): void {
  if (rejectUnknownModel(body, response)) return;
  const {
    messages,
    tools = [],
    stream,
    stream_options,
  } = body as {
    messages: Message[];
    tools?: { function: { name: string } }[];
    stream?: boolean;
    stream_options?: { include_usage?: boolean };
  };
  const step = nextStep(
    messages,
    tools.map((tool) => tool.function.name),
    traits,
  );
  const usage = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 };
  const toolCalls = step.call && [{ index: 0, id: CALL_ID, type: 'function', function: step.call }];
  const finish = toolCalls ? 'tool_calls' : 'stop';
  if (!stream || !traits.streaming) {
    const message = {
      role: 'assistant',
      content: step.text ?? null,
      ...(toolCalls && { tool_calls: toolCalls }),
    };
    const choices = [{ index: 0, message, finish_reason: finish }];
    end(response, { id: 'c1', object: 'chat.completion', choices, ...(traits.usage && { usage }) });
    return;
  }
  const deltas = toolCalls
    ? [{ role: 'assistant', content: null, tool_calls: toolCalls }]
    : pieces(step.text ?? '').map((content) => ({ role: 'assistant', content }));
  const chunk = (choices: unknown[], rest: object = {}) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    choices,
    ...rest,
  });
  sendEvents(response, [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    ...(traits.usage && stream_options?.include_usage ? [chunk([], { usage })] : []),
  ]);
}

/** The same through the Responses API. */
export function answerResponses(
  body: Record<string, unknown>,
  response: ServerResponse,
  traits: ModelCapabilities,
): void {
  if (rejectUnknownModel(body, response)) return;
  const {
    input,
    tools = [],
    stream,
  } = body as {
    input: string | Message[];
    tools?: { name: string }[];
    stream?: boolean;
  };
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const step = nextStep(
    messages,
    tools.map(({ name }) => name),
    traits,
  );
  const item = step.call
    ? { type: 'function_call', id: 'fc_1', call_id: CALL_ID, status: 'completed', ...step.call }
    : {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: step.text, annotations: [] }],
      };
  const usage = { input_tokens: 40, output_tokens: 10, total_tokens: 50 };
  const whole = {
    id: 'r1',
    object: 'response',
    status: 'completed',
    output: [item],
    ...(traits.usage && { usage }),
  };
  if (!stream || !traits.streaming) {
    end(response, whole);
    return;
  }
  const deltas = pieces(step.text ?? '').map((delta) => ({
    type: 'response.output_text.delta',
    output_index: 0,
    delta,
  }));
  sendEvents(response, [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...deltas,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]);
}

function rejectUnknownModel({ model }: Record<string, unknown>, response: ServerResponse): boolean {
  if (model !== 'no-such-model') return false;
  const error = { message: `The model \`${model}\` does not exist`, code: 'model_not_found' };
  response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  return true;
}

function nextStep(messages: readonly Message[], tools: readonly string[], traits: ModelCapabilities): Step {
  const last = messages.at(-1);
  const result =
    last?.role === 'tool' ? last.content : last?.type === 'function_call_output' ? last.output : undefined;
  if (result !== undefined) return { text: answerFrom(textOf(result)) };
  const [name] = tools;
  if (name === undefined || !traits.tools) return { text: NO_TOOLS };
  const asked = textOf(last?.content);
  const given = name === 'ping' ? { word: 'pong' } : { query: asked, top_k: null, module: null };
  return { call: { name, arguments: JSON.stringify(given) } };
}

/** The first sentence of the first result with its marker. */
function answerFrom(toolResult: string): string {
  const { results, error } = JSON.parse(toolResult) as {
    results: { text: string; ref: string }[];
    error: string | null;
  };
  const [first] = results;
  if (first === undefined) return error === null ? 'The documents say nothing.' : 'The search failed.';
  const sentence = /[A-Z][^.\n]*(?=\.)/.exec(first.text)?.[0] ?? first.text;
  return `${sentence} [${first.ref}].`;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : [];
  return parts.map((part) => part.text ?? '').join('');
}

function pieces(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function end(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendEvents(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
}
