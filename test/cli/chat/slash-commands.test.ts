import { expect, test } from 'vitest';
import { completeChatLine, parseChatLine } from '../../../src/cli/chat/chat-line.ts';
import { slashCommands } from '../../../src/cli/chat/slash-commands.ts';

test('a line is a question unless it starts with a slash and a word', () => {
  for (const text of ['What is ROS 2?', '/etc/hosts is what?', 'clear the map', 'a\n/quit', '/why\nnot?']) {
    expect(parseChatLine(text)).toEqual({ kind: 'question', text });
  }
  expect(parseChatLine('  \t ')).toEqual({ kind: 'blank' });
});

test('every command is recognised, with its argument', () => {
  for (const name of Object.keys(slashCommands)) {
    expect(parseChatLine(` /${name.toUpperCase()}  some thing `)).toEqual({
      kind: 'command',
      name,
      argument: 'some thing',
    });
  }
});

test('recognizes clear, exit and quit without a slash, and aliases', () => {
  expect(parseChatLine('clear')).toMatchObject({ name: 'reset' });
  expect(parseChatLine('Exit')).toMatchObject({ name: 'quit' });
  expect(parseChatLine('quit')).toMatchObject({ name: 'quit' });
  expect(parseChatLine('/clear')).toMatchObject({ name: 'reset' });
  expect(parseChatLine('/')).toMatchObject({ name: 'help' });
  expect(parseChatLine('/?')).toMatchObject({ name: 'help' });
  expect(parseChatLine('constructor')).toMatchObject({ kind: 'question' });
  expect(parseChatLine('/constructor')).toMatchObject({ kind: 'unknown' });
});

test('suggests the nearest command for an unknown one', () => {
  expect(parseChatLine('/souce')).toEqual({ kind: 'unknown', name: 'souce', nearest: 'source' });
  expect(parseChatLine('/xylophone')).toEqual({ kind: 'unknown', name: 'xylophone', nearest: undefined });
});

test('completes commands and policies, but not questions', () => {
  expect(completeChatLine('/s')).toEqual(['/source', '/sessions']);
  expect(completeChatLine('/co')).toEqual(['/collection']);
  expect(completeChatLine('/collection h', ['handbook', 'animals'])).toEqual(['/collection handbook']);
  expect(completeChatLine('/policy a')).toEqual(['/policy always']);
  expect(completeChatLine('s')).toEqual([]);
});
