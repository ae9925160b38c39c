import { expect, test } from 'vitest';
import { agentConfigSchema } from '../../src/domain/agent-config.ts';

test('has the documented defaults', () => {
  expect(agentConfigSchema.parse({})).toMatchObject({
    model: 'offline',
    temperature: 0.1,
    contextWindow: 8192,
    policy: 'tool',
    toolName: 'search_docs',
    topK: 5,
    maxTurns: 50,
    maxHistory: 20,
    collection: 'web_documents',
  });
  expect(agentConfigSchema.parse({}).scoreThreshold).toBeUndefined();
});

test('is read-only', () => {
  expect(Object.isFrozen(agentConfigSchema.parse({}))).toBe(true);
});

test.each([
  ['temperature', [0, 2], [-0.1, 2.1]],
  ['maxTokens', [1, 8191], [0, 8192, 1.5]],
  ['topK', [1, 20], [0, 21, 1.5]],
  ['scoreThreshold', [0, 1], [-0.1, 1.1]],
  ['maxHistory', [1, 100], [0, 101]],
  ['maxTurns', [1], [0]],
  ['maxSteps', [1], [0]],
  ['api', ['responses', 'chat_completions'], ['completions']],
  ['policy', ['tool', 'always', 'first', 'never'], ['sometimes']],
  ['toolName', ['search_docs', 'retrieve_context'], ['search']],
  ['baseUrl', ['http://localhost:11434/v1'], ['localhost', 'file:///etc/passwd']],
  ['collection', ['web_documents', 'a.b-c'], ['', '../secrets', 'a/b', '-x']],
] as const)('%s accepts %j and refuses %j', (field, good, bad) => {
  for (const value of good) expect(agentConfigSchema.safeParse({ [field]: value }).success).toBe(true);
  for (const value of bad) expect(agentConfigSchema.safeParse({ [field]: value }).success).toBe(false);
});
