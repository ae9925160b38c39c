import { createHash, randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { addSamples } from '../files/sample-file.ts';
import { isObject, parseJson } from '../openai/wire/json-object.ts';
import { generateStep, type StepEnd, WindowOverflow } from './generate-step.ts';
import { type ChatRequest, readChatRequest } from './read-chat-request.ts';
import { type ModelChoice, useModel } from './shared-models.ts';

/** Under this address tapes know the service. No request leaves the process. */
export const LLAMA_ADDRESS = 'http://llama.cpp/v1';

/** A model of a file as a service that speaks OpenAI's chat format. */
export interface LlamaService {
  /** Where the model's name stands in a request. */
  readonly model: string;
  readonly fetch: typeof globalThis.fetch;
  /** Begins to load the model, so that the first question need not wait for all of it. Never fails: the question tells. */
  warm(): void;
  /** What it is at before it writes: loading the model, or reading a request. */
  preparing(): string | null;
  close(): Promise<void>;
}

/** What is loaded is shared with every other service of the same file. */
export function createLlamaService(choice: ModelChoice): LlamaService {
  const { path } = choice;
  const model = modelNameOf(path);
  const use = useModel(choice);
  let fingerprint: Promise<string> | undefined;
  let reading: string | null = null;

  async function answer(request: ChatRequest, signal: AbortSignal | undefined): Promise<Response> {
    fingerprint ??= fingerprintOf(path);
    const running = await use.get(signal);
    const steps = generateStep(running, request, {
      signal,
      onRead(tokens, of) {
        reading = tokens < of ? `reading, ${tokens} of ${of} tokens` : null;
      },
    });
    // Nobody may read the answer to its end: whoever waits for the model must not wait for that.
    signal?.addEventListener('abort', () => void steps.return(undefined as never), { once: true });
    const about = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model,
    };
    const weights = await fingerprint;
    // What can be said of a request before anything is written is its status.
    const first = await steps.next().finally(() => {
      reading = null;
    });
    return request.streamed
      ? streamed(about, weights, steps, first, signal)
      : whole({ ...about, weights }, steps, first);
  }

  return {
    model,
    async fetch(_input, init) {
      const body = parseJson(String(init?.body));
      const request = readChatRequest(isObject(body) ? body : {});
      try {
        return await answer(request, init?.signal ?? undefined);
      } catch (error) {
        if (!(error instanceof WindowOverflow)) throw error;
        const { message } = error;
        return Response.json({ error: { message, code: 'context_length_exceeded' } }, { status: 400 });
      }
    },
    warm() {
      use.get().catch(() => {});
    },
    preparing: () => (use.isLoading() ? `loading ${model}` : reading),
    close: () => use.release(),
  };
}

/** What is said of a model elsewhere: where its file lies is nothing to others. */
export function modelNameOf(path: string): string {
  return basename(path);
}

/** Tells tapes whether it was the same file. */
async function fingerprintOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await addSamples(hash, path);
  return `gguf-${hash.digest('hex').slice(0, 32)}`;
}

type About = object;
type Steps = AsyncGenerator<string, StepEnd, void>;
type Step = IteratorResult<string, StepEnd>;

function streamed(
  about: About,
  weights: string,
  steps: Steps,
  first: Step,
  signal: AbortSignal | undefined,
): Response {
  const encoder = new TextEncoder();
  const event = (fields: object) =>
    encoder.encode(`data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', ...fields })}\n\n`);
  const delta = (fields: object, reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: fields, finish_reason: reason }] });
  let next: Step | undefined = first;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const step = next ?? (await steps.next());
      next = undefined;
      signal?.throwIfAborted();
      if (!step.done) {
        controller.enqueue(delta({ role: 'assistant', content: step.value }));
        return;
      }
      const { call } = step.value;
      if (call !== null) {
        controller.enqueue(delta({ role: 'assistant', tool_calls: [{ index: 0, ...wireCall(call) }] }));
      }
      controller.enqueue(delta({}, finishReason(step.value)));
      controller.enqueue(event({ choices: [], usage: usageOf(step.value), weights }));
      controller.enqueue(encoder.encode('data: [DONE]\n\n'));
      controller.close();
    },
    async cancel() {
      // Whatever is under way ends with the token that is being written.
      await steps.return(undefined as never);
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function whole(about: About, steps: Steps, first: Step): Promise<Response> {
  let content = '';
  let step = first;
  for (; !step.done; step = await steps.next()) content += step.value;
  const { call } = step.value;
  const message = {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(call !== null && { tool_calls: [wireCall(call)] }),
  };
  const choices = [{ index: 0, message, finish_reason: finishReason(step.value) }];
  return Response.json({ ...about, object: 'chat.completion', choices, usage: usageOf(step.value) });
}

function wireCall({ name, arguments: given }: NonNullable<StepEnd['call']>) {
  return { id: `call_${randomUUID()}`, type: 'function', function: { name, arguments: given } };
}

function finishReason({ call, reason }: StepEnd): string {
  return call === null ? reason : 'tool_calls';
}

function usageOf({ promptTokens, keptTokens, writtenTokens }: StepEnd) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: writtenTokens,
    total_tokens: promptTokens + writtenTokens,
    prompt_tokens_details: { cached_tokens: keptTokens },
  };
}
