import type { Streams, Terminal } from '../terminal/terminal.ts';
import type { Conversation } from './conversation.ts';

/** What a line that begins with a slash does in a chat. */
export interface SlashCommand {
  /** How it is typed, without the slash. */
  usage: string;
  describe: string;
  /** Prints to the terminal. Throws an AppError for what the person has to correct. */
  run(
    conversation: Conversation,
    argument: string,
    terminal: Terminal,
    streams: Streams,
  ): Promise<void> | void;
}
