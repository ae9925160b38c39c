import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

interface PackageJson {
  files: string[];
  dependencies: Record<string, string>;
}

const { files, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as PackageJson;

/** Dev dependencies that are bundled into dist (decisions/0026), so the program may import them. */
const BUNDLED =
  /^(yargs|@modelcontextprotocol\/server|remark-|rehype-|unified$|unist-util-|hast-util-|mdast-util-)/;
const VALUE_IMPORT =
  /(?:^|\n)(?:import|export)\s+(?!type\b)[^;]*?from\s+'([^.'][^']*)'|import\(\s*'([^.'][^']*)'/g;

test('the program imports only dependencies, bundled packages and Node', () => {
  const unknown = globSync('src/**/*.ts', { exclude: ['src/web/**'] }).flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(VALUE_IMPORT), (match) => match[1] ?? match[2] ?? '')
      .filter(
        (name) =>
          !name.startsWith('node:') &&
          !BUNDLED.test(name) &&
          name !== 'vitest' &&
          !name.startsWith('@opentelemetry/'),
      )
      .filter((name) => !Object.keys(dependencies).some((each) => `${name}/`.startsWith(`${each}/`)))
      .map((name) => `${file} imports ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('every relative link in the packed documents leads to a packed file', () => {
  const packed = [...files, 'README.md', 'LICENSE', 'package.json'];
  const isPacked = (path: string) => packed.some((each) => path === each || path.startsWith(`${each}/`));
  const dead = globSync('**/*.md', { exclude: ['node_modules/**', 'fixtures/**'] })
    .filter(isPacked)
    .flatMap((file) =>
      Array.from(readFileSync(file, 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g), ([, link = '']) => link)
        .filter((link) => {
          const path = relative('.', join(dirname(file), link));
          return !isPacked(path) || !existsSync(path);
        })
        .map((link) => `${file}: ${link}`),
    );
  expect(dead).toEqual([]);
});

test('the notices name every kind of bundled package with its licence', () => {
  const notices = readFileSync('dist/THIRD-PARTY-NOTICES.txt', 'utf8');
  for (const name of ['yargs', '@modelcontextprotocol/server', 'remark-parse', 'preact']) {
    expect(notices).toMatch(new RegExp(`^${name} \\d.*\\(\\w`, 'm'));
  }
});

test('server.json describes this package for the MCP registry', () => {
  const { version, mcpName } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, string>;
  const server = JSON.parse(readFileSync('server.json', 'utf8'));
  expect(server).toMatchObject({
    name: mcpName,
    version,
    packages: [{ identifier: 'citeloop', version, transport: { type: 'stdio' } }],
  });
  expect(server.description.length).toBeLessThanOrEqual(100);
});

test('the files for assistants name this version, existing commands and existing files', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const plugin = JSON.parse(readFileSync('.claude-plugin/plugin.json', 'utf8'));
  expect(plugin).toMatchObject({ name: 'citeloop', version, mcpServers: { citeloop: { command: 'npx' } } });
  expect(existsSync(plugin.skills)).toBe(true);
  const skill = readFileSync('skills/citeloop/SKILL.md', 'utf8');
  const [, name, description = ''] = /^---\nname: (.+)\ndescription: (.+)\n/.exec(skill) ?? [];
  expect(name).toBe('citeloop');
  expect(description.length).toBeLessThanOrEqual(1024);
  const linked = Array.from(
    readFileSync('llms.txt', 'utf8').matchAll(/\]\(([^)]+)\)/g),
    ([, path = '']) => path,
  );
  expect(linked.length).toBeGreaterThan(10);
  expect(linked.filter((path) => !existsSync(path))).toEqual([]);
});

test('the Dockerfile runs commands and copies files that exist', () => {
  const text = readFileSync('Dockerfile', 'utf8');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty(script);
  const command = JSON.parse(/^CMD (.+)$/m.exec(text)?.[1] ?? '[]');
  expect(command[0]).toBe('serve');
});
