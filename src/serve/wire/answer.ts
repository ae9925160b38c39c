import type { TokensUsed } from '../../domain/agent-response.ts';
import type { ToolCall } from '../../domain/conversation-message.ts';

/** A part of the text that rests on a source. */
export interface UrlCitation {
  start: number;
  end: number;
  url: string;
  title: string;
}

/** What either API gives back, before it is put into words of the wire. */
export interface Answer {
  /** Blank when there are only calls. */
  text: string;
  citations: UrlCitation[];
  calls: ToolCall[];
  usage: TokensUsed;
  /** Further fields of the object that is given back. */
  extra?: Record<string, unknown>;
}

/** An answer as it is made. `done` comes last, once; its text is what counts. */
export type AnswerEvent = { type: 'delta'; text: string } | { type: 'done'; answer: Answer };

/** What names an answer. */
export interface AnswerHead {
  /** Without a prefix. */
  id: string;
  /** Seconds since 1970. */
  createdAt: number;
  model: string;
}

/** The rest of the text after what has been sent, provided that it goes on from there. */
export function restOf(text: string, sent: string): string {
  return text.startsWith(sent) ? text.slice(sent.length) : '';
}
