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
      .filter((name) => !name.startsWith('node:') && !BUNDLED.test(name) && name !== 'vitest')
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
