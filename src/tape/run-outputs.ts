import * as z from 'zod';
import { policySchema } from '../domain/agent-config.ts';
import { agentResponseSchema } from '../domain/agent-response.ts';
import { toolCallSchema } from '../domain/conversation-message.ts';
import { conversationSessionSchema } from '../domain/conversation-session.ts';
import { type ConversationTurn, conversationTurnSchema } from '../domain/conversation-turn.ts';
import { renameLegacyFields } from '../domain/migrate-record.ts';
import { filterSchema } from '../domain/query.ts';
import { SCORE_DECIMALS } from '../domain/retrieved-chunk.ts';
import { errorResponseSchema } from '../faults/error-response.ts';
import { MASK } from '../faults/redactor.ts';
import { type Difference, diffValues } from './diff-values.ts';
import { canonicalValue } from './match-key.ts';
import type { TapeJson } from './tape-format.ts';

const foundSchema = z.object({
  query: z.string(),
  totalFound: z.number(),
  chunks: z.array(
    z.object({ chunkId: z.string(), contentHash: z.string(), title: z.string(), score: z.number() }),
  ),
});
type Found = z.infer<typeof foundSchema>;

const messageSchema = z.object({
  role: z.string(),
  content: z.string().nullable(),
  name: z.string().optional(),
  toolCalls: z.array(toolCallSchema).optional(),
});

const turnSchema = z.object({
  question: z.string(),
  policy: policySchema.nullable().default(null),
  filter: filterSchema.default({}),
  model: z.string(),
  /** Whether the conversation was reset before this question. */
  reset: z.boolean().default(false),
  answer: z.string().nullable(),
  grounded: z.boolean().nullable().default(null),
  citations: z
    .array(
      z.object({
        marker: z.string(),
        title: z.string(),
        url: z.string(),
        chunkId: z.string().nullable(),
        verdict: z.string(),
      }),
    )
    .default([]),
  /** Each sentence with what was said of it. Chances are left out: they are near, not equal, on another processor. */
  sentences: z
    .array(
      z.object({ text: z.string(), verdict: z.string().nullable(), unsupportedSpans: z.array(z.string()) }),
    )
    .nullable()
    .default(null),
  retrievalCount: z.number().default(0),
  retrieved: z.array(foundSchema).default([]),
  tokensUsed: agentResponseSchema.shape.tokensUsed.nullable().default(null),
  messages: z.array(messageSchema).default([]),
  error: errorResponseSchema.nullable().default(null),
});
export type TurnOutput = z.infer<typeof turnSchema>;

/** The results of a run, which a replay of its tape is compared with. Reads those of earlier tape versions too. */
export const runOutputsSchema = z.preprocess(
  renameLegacyFields,
  z.object({
    /** The collection as it was; its fingerprint is made of what its documents hold. Null for one on a server. */
    collection: z
      .object({ name: z.string(), documents: z.number(), fingerprint: z.string() })
      .nullable()
      .default(null),
    /** The session that went on, as it was before. */
    resumed: z
      .object({
        session: conversationSessionSchema,
        user: z.string().nullable(),
        turns: z.array(conversationTurnSchema),
      })
      .nullable()
      .default(null),
    turns: z.array(turnSchema).default([]),
    search: foundSchema.nullable().default(null),
    ingest: z.record(z.string(), z.unknown()).nullable().default(null),
    /** What ended the run. */
    error: errorResponseSchema.nullable().default(null),
  }),
);
export type RunOutputs = z.infer<typeof runOutputsSchema>;

export function noOutputs(): RunOutputs {
  return { collection: null, resumed: null, turns: [], search: null, ingest: null, error: null };
}

export function foundOf({
  query,
  totalFound,
  chunks,
}: Pick<ConversationTurn['retrievals'][number], 'query' | 'totalFound' | 'chunks'>): Found {
  return {
    query,
    totalFound,
    chunks: chunks.map(({ chunkId, contentHash, title, score }) => ({ chunkId, contentHash, title, score })),
  };
}

/** Where two runs of the same came to something else: answers, citations, retrieval counts, messages. */
export function compareOutputs(recorded: RunOutputs, replayed: RunOutputs): Difference[] {
  const turns = Math.max(recorded.turns.length, replayed.turns.length);
  return [
    ...Array.from({ length: turns }, (_, index) =>
      diffTurn(recorded.turns[index], replayed.turns[index], `turn ${index + 1}`),
    ).flat(),
    ...diff(recorded.search, replayed.search, 'search'),
    ...diff(recorded.ingest, replayed.ingest, 'ingest'),
    ...diff(endedBy(recorded), endedBy(replayed), 'error'),
  ];
}

/** What ended a run before it had a turn. Of a failed turn the turn tells, whether or not it ended the run as well. */
function endedBy({ turns, error }: RunOutputs): string | null {
  return turns.length > 0 ? null : (error?.message ?? null);
}

function diffTurn(
  recorded: TurnOutput | undefined,
  replayed: TurnOutput | undefined,
  place: string,
): Difference[] {
  // What was taken out of an answer cannot be looked up in its sources, so its verdicts are not those of the whole.
  const isWhole = ![recorded, replayed].some((turn) => turn?.answer?.includes(MASK));
  // Tapes of before do not tell of sentences.
  const withSentences = isWhole && ![recorded, replayed].some((turn) => turn?.sentences === null);
  return diff(
    comparable(recorded, isWhole, withSentences),
    comparable(replayed, isWhole, withSentences),
    place,
  );
}

/** Whether the collection holds other documents now, which explains other chunks; null where that is not known. */
export function collectionChanged(recorded: RunOutputs, replayed: RunOutputs): boolean | null {
  if (recorded.collection === null || replayed.collection === null) return null;
  return recorded.collection.fingerprint !== replayed.collection.fingerprint;
}

function comparable(turn: TurnOutput | undefined, withVerdicts: boolean, withSentences: boolean): TapeJson {
  if (turn === undefined) return null;
  const { answer, grounded, citations, sentences, retrievalCount, retrieved, messages, error } = turn;
  return {
    answer,
    grounded: withVerdicts ? grounded : null,
    retrievalCount,
    citations: withVerdicts ? citations : citations.map(({ verdict: _, ...citation }) => citation),
    sentences: withSentences ? sentences : null,
    retrieved,
    // What tools return is long, and its chunks are compared above; calls and words are not.
    messages: messages
      .filter(({ role }) => role !== 'tool')
      .map(({ role, content, toolCalls = [] }) => ({
        role,
        content,
        toolCalls: toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })),
      })),
    error: error?.message ?? null,
  } as TapeJson;
}

function diff(before: unknown, after: unknown, place: string): Difference[] {
  return diffValues(canonicalValue(before as TapeJson), canonicalValue(after as TapeJson), place).filter(
    (difference) => !isSameScore(difference),
  );
}

/** Two scores that nobody can tell apart: on another processor the last digits are others. */
function isSameScore({ path, before, after }: Difference): boolean {
  if (!/\.chunks\[\d+\]\.score$/.test(path) || typeof before !== 'number' || typeof after !== 'number') {
    return false;
  }
  return Math.abs(before - after) < 0.5 * 10 ** -SCORE_DECIMALS;
}
