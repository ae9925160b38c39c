import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { secretVariables } from '../src/config/settings.ts';
import { agentConfigSchema } from '../src/domain/agent-config.ts';
import { agentResponseSchema } from '../src/domain/agent-response.ts';
import { runEventSchema } from '../src/domain/run-event.ts';
import { endWithParent } from './support/end-with-parent.ts';

const page = readFileSync('docs/library.md', 'utf8');
const sources = ['src/index.ts', 'src/testing.ts'].map((path) => readFileSync(path, 'utf8')).join('\n');
const documented = new Set(
  Array.from(page.matchAll(/`([^`\n]+)`/g), ([, code = '']) => code.match(/\w+/g) ?? []).flat(),
);

const missing = (names: readonly string[]) => names.filter((name) => !documented.has(name));

/** The members of the interfaces and type of an exported options object. */
function membersOf(name: string): string[] {
  const [, body = ''] =
    new RegExp(`(?:interface|type) ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(sources) ?? [];
  return Array.from(body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm), ([, member = '']) => member);
}

test('the reference names everything that the library exports', () => {
  const lists = Array.from(sources.matchAll(/^export (?:type )?\{([^}]+)\}/gm), ([, names = '']) =>
    names.split(','),
  );
  const declared = Array.from(
    sources.matchAll(/^export (?:async function|interface|type) (\w+)/gm),
    ([, name = '']) => name,
  );
  const exported = [...lists.flat().map((name) => name.replace(/\btype\b/, '').trim()), ...declared];
  const names = [...new Set(exported.filter((name) => name !== ''))];
  expect(names.length).toBeGreaterThan(50);
  expect(missing(names)).toEqual([]);
});

test.each([
  'CreateAgentOptions',
  'SearchOptions',
  'IngestDocumentsOptions',
  'CiteloopAgent',
  'TapeRun',
  'UseTapeOptions',
  'UseTapeResult',
  'RecordTapeOptions',
])('the reference names every member of %s', (name) => {
  expect(membersOf(name).length).toBeGreaterThan(1);
  expect(missing(membersOf(name))).toEqual([]);
});

test('the reference names every setting, key, event, error kind and response field', () => {
  const services = Array.from(
    /type ServiceOptions = \{(.*?)\};/s.exec(sources)?.[1]?.matchAll(/'(\w+)'/g) ?? [],
    ([, name = '']) => name,
  );
  expect(services).toContain('rerank');
  const kinds = Array.from(
    /type ErrorKind =(.*?);/s
      .exec(readFileSync('src/faults/app-error.ts', 'utf8'))?.[1]
      ?.matchAll(/'(\w+)'/g) ?? [],
    ([, name = '']) => name,
  );
  expect(kinds).toContain('rate_limit');
  expect(
    missing([
      ...services,
      ...kinds,
      ...Object.keys(agentConfigSchema.def.innerType.shape),
      ...Object.values(secretVariables).map((name) => name.replace('ApiKey', '')),
      ...runEventSchema.options.map(({ shape }) => shape.type.value),
      ...Object.keys(agentResponseSchema.shape),
    ]),
  ).toEqual([]);
});

test('the code in the reference compiles', async () => {
  const directory = mkdtempSync('examples/docs-');
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const blocks = Array.from(page.matchAll(/```ts\n(.*?)```/gs), ([, code = '']) => code);
  expect(blocks.length).toBeGreaterThan(6);
  blocks.forEach((code, index) => {
    writeFileSync(join(directory, `${index}.ts`), code);
  });
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }),
  );
  const run = endWithParent(
    promisify(execFile)('node_modules/.bin/tsc', ['--project', directory, '--noUnusedLocals', 'false']),
  );
  await expect(run.catch(({ stdout }: { stdout: string }) => stdout)).resolves.toMatchObject({ stdout: '' });
});
