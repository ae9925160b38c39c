import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countdown, createSpinner, withElapsed } from '../../../src/cli/terminal/progress.ts';
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

test('a process that ends while the spinner turns leaves no half line', () => {
  const { streams, err } = fakeStreams('terminal', 30);
  const before = process.listeners('exit');
  const spinner = createSpinner(streams.stderr);
  spinner.show('searching');
  const [atExit] = process.listeners('exit').filter((listener) => !before.includes(listener));
  atExit?.(130);
  expect(err()).toMatch(/\r\x1b\[2K$/);
  expect(process.listeners('exit')).toEqual(before);
});

test('a pipe and a dumb terminal get nothing', () => {
  for (const kind of ['pipe', 'dumb'] as const) {
    const { streams, err } = fakeStreams(kind);
    const spinner = createSpinner(streams.stderr);
    spinner.show('searching');
    spinner.hide();
    expect(err()).toBe('');
  }
});

test('the wait before another attempt is counted down', () => {
  let now = 0;
  const error = { message: 'The service said "retry in 9 s".' };
  const label = countdown({ attempt: 1, waitMs: 3000, error }, () => now);
  expect(label()).toBe('The service said "retry in 9 s". Trying again in 3 s (1).');
  now = 1200;
  expect(label()).toContain('Trying again in 2 s (1).');
  now = 5000;
  expect(label()).toContain('Trying again now (1).');
});

test('a phase shows its elapsed time after a few seconds', () => {
  let now = 1000;
  const label = withElapsed('writing', () => now);
  expect(label()).toBe('writing');
  now = 8000;
  expect(label()).toBe('writing, 7 s');
  now = 63_000;
  expect(label()).toBe('writing, 1 min 02 s');
});
