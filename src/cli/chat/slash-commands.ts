import { alignColumns } from '../help-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { COMMAND_NAMES, type CommandName } from './chat-line.ts';
import { choiceCommands } from './choice-commands.ts';
import { conversationCommands } from './conversation-commands.ts';
import { evidenceCommands } from './evidence-commands.ts';
import type { SlashCommand } from './slash-command.ts';

export const commands: Readonly<Record<CommandName, SlashCommand>> = {
  help: { usage: 'help', describe: 'This list', run: (_, __, terminal) => help(terminal) },
  ...evidenceCommands,
  ...choiceCommands,
  ...conversationCommands,
  quit: { usage: 'quit', describe: 'Leave (also: exit, Ctrl-D)', run: () => {} },
};

function help(terminal: Terminal): void {
  const rows = COMMAND_NAMES.map((name) => [`/${commands[name].usage}`, commands[name].describe]);
  for (const line of alignColumns(rows, terminal.width)) terminal.write(`${line}\n`);
  const rest =
    'Anything else is a question. What is pasted is one message, a line that ends in \\ goes on, and ' +
    '""" opens and closes a block. Ctrl-C stops an answer.';
  renderText(terminal, rest);
}
