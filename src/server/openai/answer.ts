import { findMarkers } from '../../citations/find-markers.ts';
import type { AgentResponse, TokensUsed } from '../../domain/agent-response.ts';
import { type Citation, citationPassed } from '../../domain/citation.ts';
import type { ToolCall } from '../../domain/conversation-message.ts';

/** What either API gives back, before it is put into words of the wire. */
export interface Answer {
  /** Blank when there are only calls. */
  text: string;
  calls: ToolCall[];
  usage: TokensUsed;
  /** What the agent found out about its answer, given back under this name. */
  citeloop?: Pick<
    AgentResponse,
    'outcome' | 'grounded' | 'confidence' | 'finishReason' | 'model' | 'citations' | 'sentences' | 'checkedBy'
  > & {
    searches: { query: string; found: number; cited: number }[];
  };
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

/** An answer on its way to a client. */
export interface AnswerStream {
  head: AnswerHead;
  events: AsyncIterable<AnswerEvent>;
  /** Called once when the client stops reading before the end. */
  onCancel: () => void;
}

/** How long a fault may take to become an HTTP status; later ones are told within the stream. */
export const BEGIN_MS = 10_000;

/** The rest of the text after what has been sent, provided that it goes on from there. */
export function restOf(text: string, sent: string): string {
  return text.startsWith(sent) ? text.slice(sent.length) : '';
}

/** A part of the text that rests on a source. */
export interface UrlCitation {
  start: number;
  end: number;
  url: string;
  title: string;
}

/** The places of an answer, or of what was really sent of it, that point at sources which bear it out, at least in part. */
export function urlCitations({ text, citeloop }: Answer, sent = text): UrlCitation[] {
  const byMarker = new Map(
    citeloop?.citations.map((citation): [string, Citation] => [citation.marker, citation]),
  );
  const known = { knows: (ref: string) => byMarker.has(ref), isTitle: () => false };
  return findMarkers(sent, known).flatMap(({ start, end, references }) =>
    references.flatMap(({ name }) => {
      const citation = byMarker.get(name);
      if (citation === undefined || !(citationPassed(citation) || citation.verdict === 'weak')) return [];
      return [{ start, end, url: citation.url, title: citation.title }];
    }),
  );
}

/** What is given back besides what OpenAI's own services give. */
export function ownFields({ citeloop }: Answer): Pick<Answer, 'citeloop'> {
  return citeloop === undefined ? {} : { citeloop };
}

/** Why an answer that is not whole ended, as either API calls it; null if it is whole. */
export function cutReason({ citeloop }: Answer): 'length' | 'content_filter' | null {
  const reason = citeloop?.finishReason ?? 'stop';
  if (reason === 'stop') return null;
  return reason === 'content_filter' ? reason : 'length';
}

/** A piece of a stream of server-sent events. */
export function dataLine(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
