import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { endWithParent } from './support/end-with-parent.ts';
import { createCliEnvironment } from './support/run-cli.ts';
import { createSmallHome } from './support/serve-offline-model.ts';

/**
 * A program that uses the built library with tracing, first without and then with its own processor, and prints where
 * requests went and what was traced. The SDK keeps its processors for the whole process.
 */
const PROGRAM = `
import { createAgent } from 'citeloop';
const hosts = [];
globalThis.fetch = async (input) => {
  hosts.push(new URL(input.url ?? input).host);
  const chunk = { choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] };
  return new Response('data: ' + JSON.stringify(chunk) + '\\n\\ndata: [DONE]\\n\\n', {
    headers: { 'content-type': 'text/event-stream' },
  });
};
const ask = async (tracing) => {
  const agent = await createAgent({
    model: 'm', api: 'chat_completions', baseUrl: 'http://models.example/v1', policy: 'never', tracing,
  });
  await agent.ask('Who are you?');
  await agent.close();
};
const flush = () => globalThis[Symbol.for('openai.agents.core.traceProvider')]?.forceFlush();
await ask(true);
await flush();
const { setTraceProcessors } = await import('@openai/agents');
await ask(false);
await flush();
const traced = [];
const nothing = async () => {};
setTraceProcessors([{
  onTraceStart: async ({ name }) => void traced.push(name),
  onTraceEnd: nothing, onSpanStart: nothing, onSpanEnd: nothing, shutdown: nothing, forceFlush: nothing,
}]);
await ask(true);
console.log(JSON.stringify({ hosts, traced }));
`;

test('process-wide settings of the SDK affect no request and no trace', async () => {
  const { home } = await createSmallHome();
  const { stdout } = await endWithParent(
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      cwd: join(import.meta.dirname, '..'),
      env: createCliEnvironment(home, { OPENAI_API_KEY: 'sk-of-openai', NODE_ENV: 'production' }),
    }),
  );
  // Without processors of the caller, the SDK's own prints traces to stdout.
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    hosts: ['models.example', 'models.example', 'models.example'],
    traced: ['Agent workflow'],
  });
});
