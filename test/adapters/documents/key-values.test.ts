import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

test('YAML values have the path of their keys, the comment before them and their line', async () => {
  const source = `title: Demo
server:
  # For clients.
  port: 8443
  version: 1.10
  hosts: [a, b]
  users:
    - name: anna
text: |
  two
  lines
`;
  const document = await parseSource('yaml', source);
  expect(blocksOf(document)).toEqual([
    ['item', 1, '- title: Demo'],
    ['heading', 2, 'server'],
    ['item', 1, '- server.port: 8443 (For clients.)'],
    ['item', 1, '- server.version: 1.10'],
    ['item', 1, '- server.hosts: a, b'],
    ['item', 1, '- server.users[0].name: anna'],
    ['heading', 2, 'text'],
    ['item', 1, '- text: two lines'],
  ]);
  expect(document.blocks[2]?.location).toEqual({ unit: 'line', from: 4, to: 4 });
});

test('reads JSON as YAML, and several YAML documents of one file', async () => {
  const json = await parseSource('yaml', '{"scripts": {"test": "vitest run"}, "files": ["dist"], "x": null}');
  expect(json.text).toContain('- scripts.test: vitest run');
  expect(json.text).toContain('- files: dist');
  const yaml = await parseSource('yaml', 'a: 1\n---\na: 2\n');
  expect(blocksOf(yaml).map(([, , text]) => text)).toEqual(['- a: 1', '- a: 2']);
});

test('TOML and INI values have their section and key', async () => {
  const source = `name = "Demo"
# How many at once.
[tool.build]
jobs = 4
names = [
  "a",
  "b",
]
text = """
two
lines"""
[[servers]]
'ip' = '10.0.0.1'
`;
  expect(blocksOf(await parseSource('ini', source)).map(([, , text]) => text)).toEqual([
    '- name: Demo',
    'tool',
    '- tool.build.jobs: 4 (How many at once.)',
    '- tool.build.names: [ "a", "b", ]',
    '- tool.build.text: two lines',
    'servers',
    '- servers.ip: 10.0.0.1',
  ]);
  const ini = await parseSource('ini', '; x\n\n[database]\nhost: db\noptions =\n  one\n  two\n');
  expect(blocksOf(ini).map(([, , text]) => text)).toEqual([
    'database',
    '- database.host: db',
    '- database.options: one two',
  ]);
});

test('rejects invalid YAML', async () => {
  await expect(parseSource('yaml', '{"a": [1,')).rejects.toMatchObject({ kind: 'invalid_input' });
});

test('of schemas only the different descriptions are kept, with the path of the data', async () => {
  const schema = {
    type: 'object',
    description: 'A router.',
    properties: {
      spec: {
        properties: {
          title: { type: 'string', description: 'Its title.' },
          hosts: { items: { properties: { name: { description: 'Its name.' } } } },
          other: { description: 'Its name.' },
        },
      },
    },
  };
  const resource = {
    kind: 'CustomResourceDefinition',
    spec: { names: { kind: 'Router' }, versions: [{ schema: { openAPIV3Schema: schema } }] },
  };
  const crd = await parseSource('yaml', `${JSON.stringify(resource)}\n---\nkind: Deployment\n`);
  expect(blocksOf(crd).map(([, , text]) => text)).toEqual([
    '- Router: A router.',
    'Router',
    '- Router.spec.title: Its title.',
    '- Router.spec.hosts.name: Its name.',
    'kind',
    '- kind: Deployment',
  ]);
  const names = Array.from({ length: 201 }, (_, index) => [`p${index}`, { type: 'string' }]);
  const types = { ...Object.fromEntries(names), p0: { description: 'Text.' } };
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  const large = await parseSource('yaml', JSON.stringify({ $schema, properties: types }));
  expect(large.text).toBe('- p0: Text.');
  const settings = await parseSource('yaml', JSON.stringify({ $schema: 'https://x.y/z.json', ...types }));
  expect(settings.blocks.length).toBeGreaterThan(200);
});
