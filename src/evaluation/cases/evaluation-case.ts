import * as z from 'zod';
import { filterSchema } from '../../domain/query.ts';
import { oneLine } from '../../text/visible-text.ts';

const text = z.string().trim().min(1, 'must not be blank');
const texts = z.array(text).min(1, 'must not be empty; remove the field instead');

export const historyMessageSchema = z.strictObject({ role: z.enum(['user', 'assistant']), content: text });
export type HistoryMessage = z.infer<typeof historyMessageSchema>;

/** A custom check. An answer that fails one is wrong. */
const checkSchema = z.union([
  /** Text that occurs in the answer, ignoring case. */
  z.strictObject({ contains: text }),
  /** Pattern that matches in the answer, ignoring case. */
  z.strictObject({ regex: text }),
  /** `checks.mjs#name`: a function of the answer and the case that returns true, false or `{pass, reason}`. */
  z.strictObject({ module: text }),
  /** Criterion that a model applies. */
  z.strictObject({ rubric: text }),
]);
export type CaseCheck = z.infer<typeof checkSchema>;

/** A question with what is known about its right answer. Every field except id and question is optional. */
export const evaluationCaseSchema = z
  .strictObject({
    id: text,
    question: text,
    /** The conversation before the question, oldest first, in complete exchanges. */
    history: z.array(historyMessageSchema).optional(),
    /** The conversation it belongs to. Without it, cases with the same first user message form one. */
    conversation: text.optional(),
    /** Documents that contain the answer: URLs, or ends of paths; see `matchesSource`. */
    expectedSources: texts.optional(),
    /** Ids of chunks that contain the answer. */
    expectedChunks: texts.optional(),
    /** Each must occur in the answer, ignoring case, punctuation and spacing. */
    expectedPhrases: texts.optional(),
    /** None may occur in the answer, for example what a poisoned document wants said. */
    forbiddenPhrases: texts.optional(),
    /** The right answer, or several wordings of it. */
    expectedAnswer: z.union([text, texts]).optional(),
    /** All of them must pass. */
    checks: z.array(checkSchema).min(1, 'must not be empty; remove the field instead').optional(),
    /** False if the documents do not contain the answer; then abstaining is right. */
    answerable: z.boolean().optional(),
    /** False for small talk and for questions that the conversation has answered. */
    needsRetrieval: z.boolean().optional(),
    /** Restricts the search to matching documents. */
    filter: filterSchema.optional(),
    tags: texts.optional(),
    /** A remark for people, never evaluated. */
    note: z.string().optional(),
  })
  .superRefine((value, context) => {
    const addIssue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (value.answerable === false) {
      for (const field of ['expectedPhrases', 'expectedAnswer'] as const) {
        if (value[field] !== undefined) addIssue(field, 'not allowed with answerable: false');
      }
    }
    const { history = [] } = value;
    if (history.some(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'))) {
      addIssue('history', 'user and assistant must alternate, the user first');
    }
    if (history.length % 2 === 1) addIssue('history', 'must end with an assistant message');
  });
export type EvaluationCase = z.infer<typeof evaluationCaseSchema>;

/** The conversation of a case: its name, or else its first user message in quotes. */
export function toConversationKey({ conversation, history, question }: EvaluationCase): string {
  return conversation ?? `"${history?.[0]?.content ?? question}"`;
}

/** The kind of a check and its beginning, as reports show it. */
export function formatCheckName(check: CaseCheck): string {
  const [[kind, value] = ['', '']] = Object.entries(check);
  return `${kind} ${oneLine(value, 80)}`;
}
