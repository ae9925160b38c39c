import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { classifyOutcome } from '../../domain/agent-response.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { toErrorResponse } from '../../faults/error-response.ts';
import { parseOrThrow } from '../../faults/parse-or-throw.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { EvaluationCase } from '../cases/evaluation-case.ts';
import { isExpectedSource } from '../metrics/retrieval-metrics.ts';
import { toPlainCase } from '../report/assemble-report.ts';
import type { CaseRun } from '../report/case-run.ts';

const sourceSchema = z.union([
  z.string().transform((url) => ({ url, title: url, text: '' })),
  z.object({ url: z.string(), title: z.string().default(''), text: z.string().default('') }),
]);

const armAnswerSchema = z.object({
  answer: z.string(),
  sources: z.array(sourceSchema).default([]),
  abstained: z.boolean().optional(),
  tokens: z.object({ prompt: z.number().min(0), completion: z.number().min(0) }).optional(),
  cost: z.number().min(0).optional(),
});

/** What an arm from code returns. Sources are URLs or paths in the order of their rank. */
export type ArmAnswer = z.input<typeof armAnswerSchema>;

/** Answers a case with any agent or service. What it throws is a failed run. */
export type ArmFunction = (
  item: EvaluationCase,
  options: { signal: AbortSignal; repeat: number },
) => ArmAnswer | Promise<ArmAnswer>;

/** The function that `agent.mjs` or `agent.mjs#name` exports, a path from the directory. Throws `invalid_input`. */
export async function loadFunction<Loaded>(reference: string, directory = '.'): Promise<Loaded> {
  const [path = '', name = 'default'] = reference.split('#');
  const loaded = await import(pathToFileURL(resolve(directory, path)).href).catch((error: unknown) => {
    throw new AppError('invalid_input', `Could not load ${path}.`, { hint: messageOf(error), cause: error });
  });
  const found = (loaded as Record<string, unknown>)[name];
  if (typeof found === 'function') return found as Loaded;
  throw new AppError('invalid_input', `${path} exports no function "${name}".`, {
    hint: 'docs/evaluation.md has examples of arms and checks from code.',
  });
}

/** Asks a function and measures the time. Throws only if the signal is aborted. */
export async function runFunctionArm(
  ask: ArmFunction,
  item: EvaluationCase,
  { repeat, signal, elapsedMs }: { repeat: number; signal: AbortSignal; elapsedMs: () => number },
): Promise<CaseRun> {
  const started = elapsedMs();
  const gold = toPlainCase(item);
  let error: CaseRun['error'] = null;
  const reply = await Promise.resolve()
    .then(() => ask(item, { signal, repeat }))
    .then((value) => parseOrThrow(armAnswerSchema, value, 'The reply of the arm'))
    .catch((cause: unknown) => {
      signal.throwIfAborted();
      error = toErrorResponse(
        cause instanceof AppError
          ? cause
          : new AppError('api_error', oneLine(messageOf(cause), 300), { cause }),
      );
      return null;
    });
  const total = elapsedMs() - started;
  const { prompt = 0, completion = 0 } = reply?.tokens ?? {};
  const chunks = (reply?.sources ?? []).map(({ url, title, text }, index) => ({
    chunkId: `${index + 1} ${url}`,
    title: title || url,
    url,
    headings: [],
    score: 1,
    excerpt: oneLine(text, 200),
    expected: isExpectedSource({ url, chunkId: null }, gold),
  }));
  return {
    repeat,
    answer: reply?.answer ?? '',
    abstained: reply !== null && (reply.abstained ?? classifyOutcome(reply.answer, []) !== 'answer'),
    grounded: false,
    checked: false,
    confidence: null,
    citations: chunks.map(({ headings: _, ...chunk }, index) => ({
      ...chunk,
      marker: String(index + 1),
      verdict: 'supported',
    })),
    sentences: [],
    retrievals:
      chunks.length === 0
        ? []
        : [
            {
              query: item.question,
              filter: {},
              scoreThreshold: 0,
              totalFound: chunks.length,
              chunks,
              nearMiss: null,
              timeMs: 0,
            },
          ],
    searches: chunks.length === 0 ? 0 : 1,
    duplicateSearches: 0,
    steps: 1,
    tokens: { prompt, completion, total: prompt + completion },
    cost: reply?.cost ?? null,
    timesMs: { firstToken: null, retrieval: 0, generation: 0, total },
    grade: null,
    checks: [],
    error,
  };
}
