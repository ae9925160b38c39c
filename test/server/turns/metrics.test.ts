import { expect, test } from 'vitest';
import { createServerMetrics } from '../../../src/server/turns/metrics.ts';
import { startAgentServer } from '../start-agent-server.ts';

const LINE =
  /^(?:# (?:HELP|TYPE) [a-z0-9_]+ .+|[a-z0-9_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+\})? -?[\d.e+-]+)$/;

test('writes the Prometheus text format', async () => {
  const server = await startAgentServer();
  await (await server.post('/api/ask', { question: 'What is a zebra?' })).text();
  await server.get('/api/sessions/nothing');
  const text = await (await server.get('/metrics')).text();
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.trimEnd().split('\n')) expect(line.replace('le="+Inf"', 'le="1"')).toMatch(LINE);
  expect(text).toContain('citeloop_http_requests_total{method="POST",route="/api/ask",status="200"} 1');
  expect(text).toContain(
    'citeloop_http_requests_total{method="GET",route="/api/sessions/:id",status="404"} 1',
  );
  expect(text).toContain('citeloop_turns_total{outcome="completed"} 1');
  expect(text).toContain('citeloop_answers_total{grounded="true"} 1');
  expect(text).toContain('citeloop_turn_seconds_count 1');
});

test('escapes labels, and counts unknown methods together', () => {
  const metrics = createServerMetrics();
  metrics.countRequest({ method: 'BREW', route: 'a"b\\c\nd', status: 404 });
  const text = metrics.format({ running: 0, waiting: 0 });
  expect(text).toContain('{method="other",route="a\\"b\\\\c\\nd",status="404"} 1');
});
