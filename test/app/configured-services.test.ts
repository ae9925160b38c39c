import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { assertConfiguredServices, findConfiguredService } from '../../src/app/configured-services.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { trustFiles } from '../support/trust-files.ts';

afterEach(() => void vi.unstubAllEnvs());

const KEYS = { OPENAI_API_KEY: 'openai-key', GROQ_API_KEY: 'groq-key', COHERE_API_KEY: 'cohere-key' };
const configOf = (flags: Record<string, string> = {}) => loadConfig({ flags, env: KEYS, cwd: '/' });

test('rejects service URLs that only the tape has', async () => {
  const home = await createTemporaryDirectory();
  vi.stubEnv('CITELOOP_HOME', home);
  const path = join(home, 'own.json');
  await writeFile(path, JSON.stringify({ baseUrl: 'https://models.mine.test/v1' }));
  await trustFiles(home, path);
  const named = (settings: Record<string, string>, given = {}) =>
    assertConfiguredServices(settings, given, path);
  for (const setting of ['baseUrl', 'embeddingBaseUrl', 'cohereBaseUrl', 'qdrantUrl']) {
    expect(() => named({ [setting]: 'https://elsewhere.test/v1' })).toThrow(
      'The tape uses the service https://elsewhere.test/v1, which is not configured here',
    );
    named({ [setting]: 'https://elsewhere.test/v1' }, { [setting]: 'https://elsewhere.test/v1' });
  }
  named({ baseUrl: 'https://models.mine.test/v2', qdrantUrl: 'http://127.0.0.1:6333' });
  named({ baseUrl: 'https://api.groq.com/openai/v1', cohereBaseUrl: 'https://api.cohere.com' });
  expect(() => named({ baseUrl: 'https://127.0.0.1.elsewhere.test/' })).toThrow('not configured here');
});

test('finds the configured service and its key for a recorded URL', () => {
  const openai = findConfiguredService('https://api.openai.com/v1/responses', configOf());
  expect(openai).toEqual({
    url: 'https://api.openai.com/v1/responses',
    headers: { authorization: 'Bearer openai-key' },
  });
  expect(findConfiguredService('https://api.cohere.com/v2/rerank', configOf())).toEqual({
    url: 'https://api.cohere.com/v2/rerank',
    headers: { authorization: 'Bearer cohere-key' },
  });
  const here = configOf({ baseUrl: 'http://127.0.0.1:1234/v1' });
  expect(findConfiguredService('https://elsewhere.test/v1/chat/completions', here)).toMatchObject({
    url: 'http://127.0.0.1:1234/v1/chat/completions',
  });
});

test('returns a sentence for an unknown service', () => {
  expect(findConfiguredService('https://elsewhere.test/v1/chat/completions', configOf())).toContain(
    'not configured here',
  );
  expect(findConfiguredService('https://elsewhere.test/v1/other', configOf())).toBe('an unknown service');
});
