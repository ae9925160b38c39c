import { expect, test } from 'vitest';
import { COMMAND_NAMES, completeCommand, parseLine } from '../../../src/cli/chat/chat-line.ts';
import { commands } from '../../../src/cli/chat/slash-commands.ts';

test('a line is a question unless it begins with a slash and a word', () => {
  for (const text of ['What is ROS 2?', '/etc/hosts is what?', 'clear the map', 'a\n/quit', '/why\nnot?']) {
    expect(parseLine(text)).toEqual({ kind: 'question', text });
  }
  expect(parseLine('  \t ')).toEqual({ kind: 'blank' });
});

test('every command is recognised, with its argument', () => {
  for (const name of COMMAND_NAMES) {
    expect(parseLine(` /${name.toUpperCase()}  some thing `)).toEqual({
      kind: 'command',
      name,
      argument: 'some thing',
    });
  }
});

test('clear, exit and quit work without a slash, and some commands have a second name', () => {
  expect(parseLine('clear')).toMatchObject({ name: 'reset' });
  expect(parseLine('Exit')).toMatchObject({ name: 'quit' });
  expect(parseLine('quit')).toMatchObject({ name: 'quit' });
  expect(parseLine('/clear')).toMatchObject({ name: 'reset' });
  expect(parseLine('/')).toMatchObject({ name: 'help' });
  expect(parseLine('/?')).toMatchObject({ name: 'help' });
  expect(parseLine('constructor')).toMatchObject({ kind: 'question' });
  expect(parseLine('/constructor')).toMatchObject({ kind: 'unknown' });
});

test('an unknown command comes with the nearest one', () => {
  expect(parseLine('/souces')).toEqual({ kind: 'unknown', name: 'souces', nearest: 'sources' });
  expect(parseLine('/xylophone')).toEqual({ kind: 'unknown', name: 'xylophone', nearest: undefined });
});

test('Tab completes commands and policies, and leaves questions alone', () => {
  expect(completeCommand('/s')).toEqual(['/sources', '/source', '/save', '/sessions']);
  expect(completeCommand('/co')).toEqual(['/collection', '/cost']);
  expect(completeCommand('/collection h', ['handbook', 'animals'])).toEqual(['/collection handbook']);
  expect(completeCommand('/policy a')).toEqual(['/policy always']);
  expect(completeCommand('s')).toEqual([]);
  expect(Object.keys(commands).toSorted()).toEqual([...COMMAND_NAMES].toSorted());
});
