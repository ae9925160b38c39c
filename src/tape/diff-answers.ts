import type { ANSWER_CHANGE_KINDS } from '../domain/setting-choices.ts';
import { parseJson } from '../text/parse-json.ts';
import { diffJson, type JsonDifference } from './diff-json.ts';
import { isEmbeddingVector } from './match-key.ts';
import { parseEventPayloads } from './redact/redact-chunks.ts';
import { bodyValue, type TapeExchange, type TapeJson, toJsonObject } from './tape-format.ts';

/** What changed in an answer: the first segment of the path of a difference. */
export type AnswerChangeKind = (typeof ANSWER_CHANGE_KINDS)[number];

/** Fields that differ between equal answers. */
const TIMING_PATH = /^body\.(?:.*\.)?(?:time|timestamp|created|\w+_at|\w+At|durationMs|elapsedMs)$/;

/** How an answer differs from an earlier one. Of a failed call only the status is compared. */
export function diffAnswers(before: TapeExchange, now: TapeExchange): JsonDifference[] {
  const status = diffJson(answerStatus(before), answerStatus(now), 'status');
  if (status.length > 0) return status;
  const differences = diffJson(readableAnswer(before), readableAnswer(now));
  const calledOthers = differences.some(({ path }) => path.startsWith('tool-choice'));
  return differences.filter(
    ({ path }) => !(TIMING_PATH.test(path) || (calledOthers && path.startsWith('arguments'))),
  );
}

export function answerChangeKind({ path }: JsonDifference): AnswerChangeKind {
  return path.replace(/[.[].*/, '') as AnswerChangeKind;
}

function answerStatus({ response, failure }: TapeExchange): string {
  return String(failure?.code ?? failure?.name ?? response?.status ?? 'none');
}

/** The fields by which answers are compared, by kind of service. */
function readableAnswer({ request, response }: TapeExchange): { [kind in AnswerChangeKind]?: TapeJson } {
  const { pathname } = new URL(request.url);
  // The events of a stream are compared however they were split into chunks.
  const value = response?.chunks ? parseEventPayloads(response.chunks) : bodyValue(response?.body);
  if (response === undefined || value === undefined) return {};
  if (response.status < 400 && pathname.endsWith('/chat/completions')) return chatAnswer(value);
  if (response.status < 400 && pathname.endsWith('/responses')) return responsesAnswer(value);
  const vectors = findVectors(value);
  if (vectors.length > 0 && !pathname.startsWith('/collections')) return { vectors };
  const ranking = pathname.endsWith('/rerank') ? listOf(toJsonObject(value).results) : [];
  if (ranking.length > 0) return { ranking: ranking.map((each) => toJsonObject(each).index ?? null) };
  return { body: value };
}

function chatAnswer(value: TapeJson): ReturnType<typeof readableAnswer> {
  let text = '';
  const calls: { name: string; args: string }[] = [];
  for (const event of Array.isArray(value) ? value : [value]) {
    const choice = toJsonObject(listOf(toJsonObject(event).choices)[0]);
    const message = toJsonObject(choice.message ?? choice.delta);
    text += textOf(message.content);
    for (const [position, each] of listOf(message.tool_calls).entries()) {
      const { index, function: called } = toJsonObject(each);
      const { name, arguments: args } = toJsonObject(called);
      const place = typeof index === 'number' && index >= 0 && index < 1000 ? index : position;
      const call = calls[place] ?? { name: '', args: '' };
      calls[place] = { name: call.name + textOf(name), args: call.args + textOf(args) };
    }
  }
  return modelAnswer(
    text,
    calls.filter((call) => call !== undefined),
  );
}

/** Reads the completed response, which a stream has at its end. */
function responsesAnswer(value: TapeJson): ReturnType<typeof readableAnswer> {
  const events = (Array.isArray(value) ? value : [value]).map(toJsonObject);
  const outputs = events.map((event) => listOf(event.output ?? toJsonObject(event.response).output));
  const items = (outputs.findLast((output) => output.length > 0) ?? []).map(toJsonObject);
  const texts = items.flatMap(({ content }) =>
    listOf(content).map((part) => textOf(toJsonObject(part).text)),
  );
  const calls = items.filter(({ type }) => type === 'function_call');
  return modelAnswer(
    texts.join(''),
    calls.map(({ name, arguments: args }) => ({ name: textOf(name), args: textOf(args) })),
  );
}

function modelAnswer(
  text: string,
  calls: readonly { name: string; args: string }[],
): ReturnType<typeof readableAnswer> {
  return {
    'tool-choice': calls.map(({ name }) => name),
    arguments: calls.map(({ args }) => parseJson<TapeJson>(args) ?? args),
    // Sorted: where the markers are placed in the text does not count.
    citations: [...new Set(text.match(/\[\d+\]/g))].sort(),
    answer: text,
  };
}

function findVectors(value: TapeJson): number[][] {
  if (typeof value !== 'object' || value === null) return [];
  return isEmbeddingVector(value) ? [value] : Object.values(value).flatMap(findVectors);
}

function listOf(value: TapeJson | undefined): TapeJson[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: TapeJson | undefined): string {
  return typeof value === 'string' ? value : '';
}
