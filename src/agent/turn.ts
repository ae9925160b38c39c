import type { Model } from '@openai/agents-core';
import type { CheckedAnswer } from '../citations/check-answer.ts';
import type { AgentConfig } from '../domain/agent-config.ts';
import {
  type AgentResponse,
  confidenceOf,
  type FinishReason,
  isGrounded,
  outcomeOf,
} from '../domain/agent-response.ts';
import type { Citation } from '../domain/citation.ts';
import type { ConversationMessage } from '../domain/conversation-message.ts';
import { type ConversationTurn, durationBetween, withCited } from '../domain/conversation-turn.ts';
import { contextPrompt } from '../domain/prompts.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { advice, bySetting, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { retryNotice } from '../faults/retry.ts';
import { oneLine } from '../text/visible-text.ts';
import { withAttached } from './attached-text.ts';
import { generate } from './generate.ts';
import { startTimeLimit } from './guards/time-limit.ts';
import { toAppError } from './guards/to-app-error.ts';
import { withAnswerCheck } from './guards/with-answer-check.ts';
import { withIdleTimeout } from './guards/with-idle-timeout.ts';
import { withOverflowTrim } from './guards/with-overflow-trim.ts';
import { withRetries } from './guards/with-retries.ts';
import { inputItems, standaloneQuestion } from './model-input.ts';
import { policies } from './policies.ts';
import { search } from './search.ts';
import { createPassageRoom, shareWindow } from './share-window.ts';
import { withGoneFiles } from './stale-citations.ts';
import { createTurnJudge } from './turn-judge.ts';
import {
  createTurnRecord,
  type TurnDependencies,
  type TurnProgress,
  type TurnRequest,
  type TurnState,
} from './turn-state.ts';

const IDLE_TIMEOUT_MS = 60_000;
/** Far more than a question needs: what is longer was piped in by mistake. */
const MAX_QUESTION = 8000;

/** What came of a question: the turn, and its messages, which the conversation goes on with. */
export interface FinishedTurn {
  turn: ConversationTurn;
  messages: ConversationMessage[];
}

/** One question from its policy to its checked answer. Nothing is stored. Throws AppErrors only. */
export async function runTurn(
  dependencies: TurnDependencies,
  request: TurnRequest,
  progress: TurnProgress,
): Promise<FinishedTurn> {
  const { runtime, faults, config } = dependencies;
  const { question, policy, sources } = request;
  const started = { elapsedMs: runtime.elapsedMs(), timestamp: runtime.now().toISOString() };
  const { signal, end } = startTimeLimit(config.maxTurnSeconds, request.signal);
  request.searches.beginTurn();
  try {
    const { instructions, modules } = await dependencies.briefing();
    const { history, passageTokens } = shareWindow(
      config,
      dependencies.window,
      { ...request, instructions },
      progress.tellOnce,
    );
    const turn = {
      ...dependencies,
      ...request,
      history,
      modules,
      signal,
      progress,
      record: createTurnRecord(runtime),
      room: createPassageRoom(passageTokens, progress.tellOnce),
      judge: createTurnJudge(dependencies.findJudge, signal),
    };
    const model = guardedModel(turn);
    turn.record.question(question);
    const isGiven = request.attached !== undefined || policies[policy].searchFirst;
    const prompt = isGiven ? await withPassages(turn, model, passageTokens) : question;
    const written = await generate(turn, { model, instructions, prompt });
    const checked = await turn.judge.check(written, sources);
    if (checked.answer.trim() === '') throw nothingBut(checked.citations);
    const outcome =
      turn.record.finishReason === 'max_steps' ? 'none' : outcomeOf(checked.answer, config.abstentionPhrases);
    const answerProbability = outcome === 'answer' ? await chanceOfAnswering(turn, checked) : null;
    const citations = withGoneFiles(checked.citations, foundIn(turn));
    progress.emit({ type: 'citations', citations });
    return finishTurn(turn, { ...checked, citations, outcome, answerProbability }, started);
  } catch (error) {
    throw toAppError(error, { ...faults, signal });
  } finally {
    end();
  }
}

/** A question as it is asked, without blanks around it. Throws `invalid_input` if it cannot be. */
export function askableQuestion(given: string): string {
  const question = given.trim();
  if (question === '')
    throw new AppError('invalid_input', 'The question is blank.', { hint: 'Ask something.' });
  if (given.length <= MAX_QUESTION) return question;
  throw new AppError(
    'invalid_input',
    `The question has ${given.length} characters; ${MAX_QUESTION} are allowed.`,
    { hint: 'Ask something shorter, and ingest long texts as documents.' },
  );
}

/** The model with patience and its limits: it waits for services that ask it to, and not for ever. */
function guardedModel(turn: TurnState): Model {
  const { config, window, runtime, faults, signal, progress } = turn;
  const answering = withAnswerCheck(turn.model, config.maxAnswerCharacters);
  const checked = withIdleTimeout(answering, IDLE_TIMEOUT_MS);
  const patient = withRetries(checked, {
    signal,
    random: runtime.random,
    sleep: runtime.sleep,
    context: faults,
    onRetry: (retry) =>
      progress.emit({
        type: 'notice',
        message: retryNotice(retry),
        retry: { ...retry, error: toErrorResponse(retry.error) },
      }),
  });
  return withOverflowTrim(patient, {
    onTrim(told) {
      if (told !== undefined) window.learn(told);
      const size = told === undefined ? `smaller than ${window.tokens} tokens` : `of ${told} tokens`;
      progress.tellOnce(
        'overflow',
        `The window of the model is ${size}: the oldest messages and the weakest passages were left out. ` +
          'Set contextWindow to what the model holds.',
      );
    },
  });
}

/** The question with the passages in front of it that were given along, or are found for what it means in its conversation. */
async function withPassages(turn: TurnState, model: Model, passageTokens: number): Promise<string> {
  const { config, record, room, question, attached, filter, sources, runtime, signal } = turn;
  const history = inputItems(turn.history);
  const { query, tokens } = await standaloneQuestion(model, history, question, signal);
  record.tokens(tokens);
  record.beginStep();
  const { context } = await search(turn, { text: query, topK: config.topK, filter }, runtime.newId());
  const given = attached === undefined ? context : withAttached(context, attached, question, passageTokens);
  for (const message of given.notes.slice(context.notes.length))
    turn.progress.emit({ type: 'notice', message });
  // The judge reads it too.
  if (attached !== undefined) turn.judge.readAhead(given.chunks, [question, query]);
  const shown = room.show(given);
  record.retrieved(shown.context);
  return contextPrompt(shown, question, sources.register);
}

function finishTurn(
  { record, runtime, config, question, sessionId, turnNumber }: TurnState,
  checked: CheckedAnswer & Pick<AgentResponse, 'outcome' | 'answerProbability'>,
  { elapsedMs, timestamp }: { elapsedMs: number; timestamp: string },
): FinishedTurn {
  const { retrievals, retrievalCount, retrievalTimeMs, tokensUsed, searchFault, finishReason } = record;
  const fault = cutFault(finishReason, config) ?? searchFault;
  const ended = runtime.elapsedMs();
  const totalTimeMs = ended - elapsedMs;
  const { answer, citations, outcome } = checked;
  // Outcome, grounding and confidence are computed here, never claimed by a model.
  const response: AgentResponse = {
    ...checked,
    query: question,
    sessionId,
    turnNumber,
    model: config.model,
    tokensUsed,
    retrievalPerformed: retrievalCount > 0,
    retrievalCount,
    retrievedSources: [...new Set(retrievals.flatMap(({ chunks }) => chunks.map(({ url }) => url)))],
    grounded: finishReason === 'stop' && isGrounded(outcome, citations),
    confidence: confidenceOf(hasFound(retrievals), checked.answerProbability),
    finishReason,
    retrievalTimeMs,
    generationTimeMs: Math.max(0, totalTimeMs - retrievalTimeMs),
    totalTimeMs,
    error: fault && toErrorResponse(fault),
    timestamp,
  };
  const turn = {
    turnId: runtime.newId(),
    userQuery: question,
    retrievals,
    response,
    timestamp,
    durationSeconds: durationBetween(elapsedMs, ended),
    decisions: withCited(record.endSteps(), citations),
  };
  record.answer(answer, citations);
  return { turn, messages: record.messages };
}

/** An answer of which nothing is left without the sources that were never retrieved. */
function nothingBut(citations: readonly Citation[]): AppError {
  const markers = citations.map(({ marker }) => `[${oneLine(marker, 20)}]`).join(' ');
  return new AppError('api_error', `The model answered nothing but ${markers}, which was never retrieved.`, {
    hint: advice`Ask again, or choose another model${bySetting('model')}.`,
    recoverable: true,
  });
}

/** What is wrong with an answer that did not end by itself. */
function cutFault(reason: FinishReason, { maxTokens, maxSteps }: AgentConfig): AppError | null {
  switch (reason) {
    case 'stop':
      return null;
    case 'length':
      return new AppError('api_error', `The answer was cut at the limit of ${maxTokens} tokens.`, {
        hint: advice`Raise ${setting('maxTokens')}, or ask a narrower question.`,
      });
    case 'content_filter':
      return new AppError('api_error', 'The content filter of the model service cut the answer.', {
        hint: 'Rephrase the question.',
      });
    case 'max_steps':
      return new AppError('api_error', `The model came to no answer within ${maxSteps} steps.`, {
        hint: advice`Ask a narrower question, or raise ${setting('maxSteps')}.`,
      });
  }
}

/** Whether what bears the answer out answers the question, or what that means in its conversation. */
async function chanceOfAnswering(
  { judge, record, question, history }: TurnState,
  { sentences }: CheckedAnswer,
): Promise<number | null> {
  const goesOn = history.some(({ role }) => role === 'user');
  return judge.chanceOfAnswering((goesOn && record.retrievals[0]?.query) || question, sentences);
}

function foundIn({ record }: TurnState): RetrievedChunk[] {
  return record.retrievals.flatMap(({ chunks }) => chunks);
}

function hasFound(retrievals: ConversationTurn['retrievals']): boolean {
  return retrievals.some(({ chunks, nearMiss }) => chunks.length > 0 || (nearMiss?.score ?? 0) > 0);
}
