import * as z from 'zod';
import { filterSchema } from '../../domain/query.ts';
import { oneLine } from '../../text/visible-text.ts';

const text = z.string().trim().min(1, 'it is blank');
const texts = z.array(text).min(1, 'the list is empty; leave the field out instead');

export const historyMessageSchema = z.strictObject({ role: z.enum(['user', 'assistant']), content: text });
export type HistoryMessage = z.infer<typeof historyMessageSchema>;

/** A check of one's own: the answer must pass it to be right. */
const checkSchema = z.union([
  /** A text that stands in the answer as it is, upper and lower case aside. */
  z.strictObject({ contains: text }),
  /** A pattern that matches somewhere in it, upper and lower case aside. */
  z.strictObject({ regex: text }),
  /** What the JSON that the answer is must be. */
  z.strictObject({ jsonSchema: z.record(z.string(), z.unknown()) }),
  /** `checks.mjs#name`: a function of the answer and the case that says true or false, or `{pass, reason}`. */
  z.strictObject({ module: text }),
  /** What a judging model holds it against. */
  z.strictObject({ rubric: text }),
]);
export type Check = z.infer<typeof checkSchema>;

/** One question with what is known about its right answer. Every field but id and question is optional gold. */
export const evaluationCaseSchema = z
  .strictObject({
    id: text,
    question: text,
    /** What was said before, oldest first, whole exchanges. */
    history: z.array(historyMessageSchema).optional(),
    /** Which conversation it is a turn of; without it, cases that begin with the same words are of one. */
    conversation: text.optional(),
    /** Documents that hold the answer, each an address or the end of a path; see `matchesSource`. */
    expectedSources: texts.optional(),
    /** Chunk ids that hold the answer. */
    expectedChunks: texts.optional(),
    /** Each must occur in the answer, whatever its case, punctuation and spacing. */
    expectedPhrases: texts.optional(),
    /** None may occur in the answer: what a poisoned document wants said. */
    forbiddenPhrases: texts.optional(),
    /** The right answer; where there are several wordings, any of them. */
    expectedAnswer: z.union([text, texts]).optional(),
    /** Checks of one's own; all of them must pass. */
    checks: z.array(checkSchema).min(1, 'the list is empty; leave the field out instead').optional(),
    /** Whether the documents hold the answer; where they do not, the right answer says so. */
    answerable: z.boolean().optional(),
    /** Whether a good agent searches before it answers: false for small talk and for what was just said. */
    needsRetrieval: z.boolean().optional(),
    /** Only documents that pass it are searched. */
    filter: filterSchema.optional(),
    tags: texts.optional(),
    /** A remark for people; nothing reads it. */
    note: z.string().optional(),
  })
  .superRefine((value, context) => {
    const fault = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (value.answerable === false) {
      for (const field of ['expectedPhrases', 'expectedAnswer'] as const) {
        if (value[field] !== undefined) fault(field, 'a case that is not answerable has none');
      }
    }
    value.history?.forEach(({ role }, index) => {
      if (role !== (index % 2 === 0 ? 'user' : 'assistant')) {
        fault('history', 'user and assistant take turns, the user first');
      }
    });
    if ((value.history?.length ?? 0) % 2 === 1) fault('history', 'it ends with an answer of the assistant');
  });
export type EvaluationCase = z.infer<typeof evaluationCaseSchema>;

/** The wordings of the right answer; empty where none is given. */
export function expectedAnswers({ expectedAnswer }: Pick<EvaluationCase, 'expectedAnswer'>): string[] {
  if (expectedAnswer === undefined) return [];
  return typeof expectedAnswer === 'string' ? [expectedAnswer] : expectedAnswer;
}

/** What tells the conversation of a case: its name, or the first thing that was said in it. */
export function conversationOf({ conversation, history, question }: EvaluationCase): string {
  const opening = history?.[0]?.content ?? question;
  return conversation === undefined ? `"${opening}"` : conversation;
}

/** What a check is called in a report: its kind and how it begins. */
export function nameOfCheck(check: Check): string {
  const [[kind, value] = ['', '']] = Object.entries(check);
  return `${kind} ${oneLine(typeof value === 'string' ? value : JSON.stringify(value), 80)}`;
}
