import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgressBar, createSpinner } from '../../../src/cli/terminal/progress.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import { fakeStreams, plain } from '../support/fake-streams.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the spinner draws on one line of a terminal and erases itself', async () => {
  const { streams, err } = fakeStreams('terminal', 30);
  const spinner = createSpinner(streams.stderr);
  spinner.show(`searching: ${'a long query '.repeat(10)}\x1b[2J`);
  vi.advanceTimersByTime(250);
  spinner.hide();
  await vi.advanceTimersByTimeAsync(1000);
  expect(err().split('\r').length).toBeGreaterThan(4);
  expect(err()).toMatch(/\r\x1b\[2K$/);
  expect(err()).not.toContain('\x1b[2J');
  expect(err()).not.toContain('\n');
  for (const frame of plain(err()).split('\r')) expect(frame.length).toBeLessThan(30);
});

test('the spinner is erased when the process exits', () => {
  const { streams, err } = fakeStreams('terminal', 30);
  const before = process.listeners('exit');
  const spinner = createSpinner(streams.stderr);
  spinner.show('searching');
  const [atExit] = process.listeners('exit').filter((listener) => !before.includes(listener));
  atExit?.(130);
  expect(err()).toMatch(/\r\x1b\[2K$/);
  expect(process.listeners('exit')).toEqual(before);
});

test('a message erases the line below it, and of two lines the last one is drawn', () => {
  const { streams, err } = fakeStreams('terminal', 40);
  const [first, second] = [createSpinner(streams.stderr), createSpinner(streams.stderr)];
  first.show('reading');
  createTerminal(streams.stderr).write('A message.\n');
  expect(err()).toMatch(/reading\S*\r\x1b\[2KA message\.\n$/);
  second.show('downloading');
  const before = err().length;
  vi.advanceTimersByTime(500);
  expect(plain(err().slice(before))).not.toContain('reading');
  first.hide();
  second.hide();
  expect(err()).toMatch(/\r\x1b\[2K$/);
});

test('prints no spinner in a pipe or on a dumb terminal', () => {
  for (const kind of ['pipe', 'dumb'] as const) {
    const { streams, err } = fakeStreams(kind);
    const spinner = createSpinner(streams.stderr);
    spinner.show('searching');
    spinner.hide();
    expect(err()).toBe('');
  }
});

test('a label that stays for some seconds shows the elapsed time', () => {
  const { streams, err } = fakeStreams('terminal', 40);
  const spinner = createSpinner(streams.stderr);
  spinner.show('writing');
  vi.advanceTimersByTime(4000);
  expect(plain(err())).not.toContain('writing,');
  vi.advanceTimersByTime(3040);
  expect(plain(err())).toContain('writing, 8 s');
  vi.advanceTimersByTime(55_000);
  expect(plain(err())).toContain('writing, 1 min 02 s');
  spinner.hide();
});

test('a narrow terminal shows the numbers of a progress bar and less of its label', () => {
  const { streams, err } = fakeStreams('terminal', 30);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(streams.stderr as typeof process.stderr);
  const bar = createProgressBar('Downloading the search model', ' MB');
  bar.update({ done: 3, total: 20 });
  bar.clear();
  expect(plain(err())).toContain('Downloading the se… 3/20 MB');
});
