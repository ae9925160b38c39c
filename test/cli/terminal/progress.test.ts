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

test('what takes long says for how long it has, each thing for itself', () => {
  let [now, doing] = [1000, 'loading tiny.gguf'];
  const label = withElapsed(
    () => doing,
    () => now,
  );
  expect(label()).toBe('loading tiny.gguf');
  now = 8000;
  expect(label()).toBe('loading tiny.gguf, 7 s');
  doing = 'writing';
  expect(label()).toBe('writing');
  now = 70_000;
  expect(label()).toBe('writing, 1 min 02 s');
});
