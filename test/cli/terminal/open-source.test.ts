import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { chooseOpener, openSource } from '../../../src/cli/terminal/open-source.ts';
import { findCitedSource, renderCitedSource } from '../../../src/cli/terminal/render-source.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import { isFileDeleted } from '../../../src/retrieval/deleted-files.ts';
import { citation } from '../../domain/arbitraries.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { fakeStreams } from '../support/fake-streams.ts';
import { turnOf } from '../support/scripted-agent.ts';

const line = { unit: 'line', from: 12, to: 14 } as const;
const file = { url: 'docs/a b.md', uri: 'file:///docs/a%20b.md', location: line };
const nothing = { editor: undefined, browser: undefined };

test.each([
  ['vim', ['vim', '+12', '/docs/a b.md']],
  ['/usr/bin/nvim -R', ['/usr/bin/nvim', '-R', '+12', '/docs/a b.md']],
  ['code -w', ['code', '-w', '--goto', '/docs/a b.md:12']],
  ['hx', ['hx', '/docs/a b.md:12']],
  ['pycharm', ['pycharm', '--line', '12', '/docs/a b.md']],
  ['strange', ['strange', '/docs/a b.md']],
])('%s opens a file at a line', (editor, expected) => {
  expect(chooseOpener(file, { ...nothing, editor: editor.split(' ') }, 'linux')).toEqual(expected);
});

test('uses the opener of the system without $EDITOR, and the browser for web pages', () => {
  expect(chooseOpener(file, nothing, 'linux')).toEqual(['xdg-open', '/docs/a b.md']);
  expect(chooseOpener(file, nothing, 'darwin')).toEqual(['open', '/docs/a b.md']);
  const onWeb = { url: 'https://docs.test/a', location: undefined };
  expect(chooseOpener(onWeb, { ...nothing, editor: ['vim'] }, 'linux')).toEqual([
    'xdg-open',
    'https://docs.test/a',
  ]);
  expect(chooseOpener(onWeb, { ...nothing, browser: ['firefox'] })).toEqual([
    'firefox',
    'https://docs.test/a',
  ]);
});

test('starts no shell on Windows, which would run a part of the URL', () => {
  const url = 'https://docs.test/?a&calc.exe';
  const [program, ...args] = chooseOpener({ url, location: undefined }, nothing, 'win32');
  expect(program).toBe('rundll32');
  expect(args).toContain(url);
});

test('opens a PDF at its page in the browser', () => {
  const pdf = { url: 'a.pdf', uri: 'file:///a.pdf', location: { unit: 'page', from: 3, to: 4 } as const };
  const programs = { editor: ['vim'], browser: ['firefox'] };
  expect(chooseOpener(pdf, programs)).toEqual(['firefox', 'file:///a.pdf#page=3']);
  expect(chooseOpener(pdf, { ...programs, browser: undefined }, 'linux')).toEqual(['xdg-open', '/a.pdf']);
});

test('says which variable to set if nothing opens the file', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'a.md'), 'Text.');
  const place = { url: 'a.md', uri: pathToFileURL(join(directory, 'a.md')).href, location: line };
  const opener = '#!/bin/sh\necho "www-browser: not found" >&2\nexit 3\n';
  const script = `
    const { openSource } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/cli/terminal/open-source.ts'))});
    await openSource(${JSON.stringify(place)}, process).catch((error) => console.log(error.message, error.advice.join('')));
  `;
  for (const name of ['xdg-open', 'open']) await writeFile(join(directory, name), opener, { mode: 0o755 });
  const env = { PATH: `${directory}:/usr/bin:/bin` };
  const { stdout, stderr } = await endWithParent(
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env }),
  );
  expect(stderr).toBe('');
  expect(stdout).toContain('No program to open it: $EDITOR is not set.');
  expect(stdout).toContain(`Set EDITOR, or open ${join(directory, 'a.md')}, lines 12–14.`);
});

test('shows the file at the line in the pager without $EDITOR and a desktop', async () => {
  const directory = await createTemporaryDirectory();
  const path = join(directory, 'a.md');
  await writeFile(path, 'Text.');
  const shown = join(directory, 'shown.txt');
  const program = async (name: string, line: string) =>
    writeFile(join(directory, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  for (const name of ['xdg-open', 'open']) await program(name, 'exit 3');
  await program('my-pager', `echo "$@" > ${shown}`);
  for (const name of ['EDITOR', 'VISUAL']) vi.stubEnv(name, undefined);
  vi.stubEnv('PAGER', 'my-pager -R');
  vi.stubEnv('PATH', `${directory}:/usr/bin:/bin`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const place = { url: 'a.md', uri: pathToFileURL(path).href, location: line };
  await openSource(place, fakeStreams('terminal').streams);
  expect(await readFile(shown, 'utf8')).toBe(`-R +12 ${path}\n`);
});

test('a file counts as deleted only if its root still exists', async () => {
  const directory = await createTemporaryDirectory();
  const uri = (path: string) => pathToFileURL(join(directory, path)).href;
  await writeFile(join(directory, 'a.md'), 'Text.');
  expect(isFileDeleted({ url: 'a.md', uri: uri('a.md') })).toBe(false);
  expect(isFileDeleted({ url: 'b.md', uri: uri('b.md') })).toBe(true);
  expect(isFileDeleted({ url: 'deep/er/b.md', uri: uri('deep/er/b.md') })).toBe(true);
  expect(isFileDeleted({ url: 'https://docs.test/b', uri: uri('b.md') })).toBe(true);
  expect(isFileDeleted({ url: 'b.md', uri: uri('elsewhere/b.md') })).toBe(false);
  expect(isFileDeleted({ url: 'https://docs.test/b' })).toBe(false);
});

test('rejects a file that was indexed on another machine', () => {
  expect(() => chooseOpener({ url: 'docs/a.md' }, nothing)).toThrow(
    'The file of docs/a.md is not on this machine.',
  );
});

test('finds a marker in the newest answer, and lists the known markers for an unknown one', () => {
  const first = turnOf({ citations: [citation({ marker: '1', title: 'old' })] });
  const second = turnOf({ citations: [citation({ marker: '1', title: 'new' }), citation({ marker: '2' })] });
  expect(findCitedSource([first, second], '[1]').citation.title).toBe('new');
  const third = turnOf({ citations: [citation({ marker: '10' }), citation({ marker: '3' })] });
  expect(() => findCitedSource([third, first, second], '7')).toThrow(
    expect.objectContaining({ message: 'No answer cites [7].', hint: 'Cited sources: [1], [2], [3], [10].' }),
  );
  expect(() => findCitedSource([], '1')).toThrow('No answer cites [1].');
  const removed = turnOf({
    citations: [citation({ marker: '5', chunkId: null, verdict: 'unknown_source' })],
  });
  expect(() => findCitedSource([removed], '')).toThrow(
    expect.objectContaining({ message: 'Give the number of a source.', hint: 'Nothing is cited yet.' }),
  );
});

test('marks the evidence in a cited source', () => {
  const turn = turnOf({});
  const [chunk] = turn.retrievals.flatMap(({ chunks }) => chunks);
  if (chunk === undefined) throw new Error('The turn retrieved nothing.');
  const words = chunk.text.slice(0, 10);
  const cited = citation({ chunkId: chunk.chunkId });
  const sentence = {
    start: 0,
    end: 5,
    text: 'Said.',
    refs: ['1'],
    verdict: 'supported' as const,
    evidence: { chunkId: chunk.chunkId, start: 0, end: 10, text: words },
    reason: null,
  };
  const answered = { ...turn, response: { ...turn.response, sentences: [sentence] } };
  const { streams, out } = fakeStreams('pipe');
  renderCitedSource(createTerminal(streams.stdout), { citation: cited, chunk, turn: answered }, []);
  expect(out()).toContain(`»${words}«${chunk.text.slice(10)}`);
});
