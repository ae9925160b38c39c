import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type LastRequest, monotonicMs } from '../support/model-server.ts';

const PIECES = 60;
const SENTENCES_QUOTED = 5;
const PAUSE_MS = Number(process.argv[2] ?? 0) / PIECES;

interface Message {
  role: string;
  content: string | null;
}

// A Chat Completions server: it searches for the question, then answers with a sentence of each result and its marker,
// one piece per write.
let last: LastRequest = { firstWordAtMs: 0, messages: 0, bytes: 0 };

const server = createServer(async (request, response) => {
  if (request.method === 'GET') response.end(JSON.stringify(last));
  else await answer(request, response);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
// Exits if the parent process is killed.
process.once('disconnect', () => process.exit());

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { messages } = JSON.parse(body) as { messages: Message[] };
  const lastMessage = messages.at(-1);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (lastMessage?.role === 'tool') {
    const [first, ...rest] = splitAnswer(answerFrom(lastMessage.content ?? ''));
    last = { firstWordAtMs: monotonicMs(), messages: messages.length, bytes: body.length };
    response.write(chunk({ role: 'assistant', content: first }));
    for (const content of rest) {
      await (PAUSE_MS > 0 ? setTimeout(PAUSE_MS) : setImmediate());
      response.write(chunk({ content }));
    }
    response.write(chunk({}, 'stop'));
  } else {
    const query = JSON.stringify({ query: lastMessage?.content, top_k: null, module: null });
    const call = { name: 'search_docs', arguments: query };
    const id = `call_${messages.length}`;
    response.write(
      chunk({ role: 'assistant', tool_calls: [{ index: 0, id, type: 'function', function: call }] }),
    );
    response.write(chunk({}, 'tool_calls'));
  }
  const usage = { prompt_tokens: 900, completion_tokens: PIECES, total_tokens: 900 + PIECES };
  response.write(`data: ${JSON.stringify({ ...head(), choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

function answerFrom(toolResult: string): string {
  const { results } = JSON.parse(toolResult) as { results: { text: string; ref: string }[] };
  return results
    .slice(0, SENTENCES_QUOTED)
    .map(({ text: passage, ref }) => {
      const [sentence = passage] = passage.match(/[A-Z][^.]{20,160}(?=\.)/) ?? [];
      return `${sentence} [${ref}].`;
    })
    .join(' ');
}

function splitAnswer(text: string): string[] {
  return Array.from({ length: PIECES }, (_, index) =>
    text.slice((index * text.length) / PIECES, ((index + 1) * text.length) / PIECES),
  );
}

function chunk(delta: object, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ ...head(), choices })}\n\n`;
}

function head() {
  return { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench' };
}
