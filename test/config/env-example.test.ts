import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { secretVariables, settingVariables } from '../../src/config/settings.ts';

const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');

test('.env.example names exactly the variables that are read', () => {
  const read = [...Object.keys(settingVariables), ...Object.keys(secretVariables)];
  expect(Object.keys(parseEnv(example)).sort()).toEqual(read.sort());
});

test('.env.example sets nothing and explains every variable in a comment above it', () => {
  expect(Object.values(parseEnv(example)).join('')).toBe('');
  const lines = example.split('\n');
  lines.forEach((line, index) => {
    if (/^[A-Z]/.test(line)) expect(lines[index - 1]).toMatch(/^# .+\.$|^# .+\)\.$/);
  });
});

test('the variables of the design are read', () => {
  const read = Object.keys({ ...settingVariables, ...secretVariables });
  expect(read).toEqual(
    expect.arrayContaining(
      (
        'AGENT_MAX_TURNS AGENT_SCORE_THRESHOLD AGENT_TOP_K CITELOOP_HOME CITELOOP_MODEL_DIR COHERE_API_KEY ' +
        'OPENAI_API OPENAI_API_KEY OPENAI_BASE_URL OPENAI_MODEL QDRANT_API_KEY QDRANT_URL'
      ).split(' '),
    ),
  );
});
