import type { ANSWER_CHANGES } from '../../domain/choices.ts';
import { diffValues, formatDifference } from '../diff-values.ts';
import { sameVectors } from '../match-key.ts';
import { answerValue } from '../same-answer.ts';
import type { TapeExchange, TapeJson } from '../tape-format.ts';
import { type ModelAnswer, modelAnswer } from './model-answer.ts';

export type ChangeKind = (typeof ANSWER_CHANGES)[number];

export interface AnswerChange {
  kind: ChangeKind;
  /** On one line, before and now. */
  detail: string;
}

/** How an answer differs from the one of before; nothing for one that differs in ids and times alone. */
export function answerChanges(before: TapeExchange, now: TapeExchange): AnswerChange[] {
  const [was, is] = [outcomeOf(before), outcomeOf(now)];
  if (was !== is) return [{ kind: 'status', detail: detail('status', was, is) }];
  const [answered, answers] = [modelAnswer(before), modelAnswer(now)];
  const said = answered !== null && answers !== null ? saidOtherwise(answered, answers) : [];
  const isAlike = !said.some(({ kind }) => kind === 'tool-choice');
  return [...shapeChange(before, now, isAlike), ...said, ...numbersChange(before, now)];
}

function outcomeOf({ response, failure }: TapeExchange): string {
  return String(failure?.code ?? failure?.name ?? response?.status ?? 'none');
}

function saidOtherwise(before: ModelAnswer, now: ModelAnswer): AnswerChange[] {
  const changes: AnswerChange[] = [];
  const tools = ({ calls }: ModelAnswer) => calls.map(({ name }) => name);
  const args = ({ calls }: ModelAnswer) => calls.map(({ arguments: given }) => parsed(given));
  const note = (kind: ChangeKind, was: TapeJson, is: TapeJson) => {
    const [first] = diffValues(was, is, kind);
    if (first !== undefined) changes.push({ kind, detail: formatDifference(first).trim() });
  };
  const file = changes.length;
  note('tool-choice', tools(before), tools(now));
  if (changes.length === file) note('arguments', args(before), args(now));
  note('citations', citationsIn(before.text), citationsIn(now.text));
  note('answer', before.text, now.text);
  return changes;
}

/** Which passages are cited, in the order of their numbers: where the marks stand is a matter of wording. */
function citationsIn(text: string): string[] {
  return [...new Set(text.match(/\[\d+\]/g))].sort();
}

/** Where answers hold what the model made up: which of these there are is told by what was said. */
const SAID =
  /tool_calls|function_call|output\b|\bdelta\b|\bcontent\b|annotations|logprobs|finish_reason|\bitem\b/;

function shapeChange(before: TapeExchange, now: TapeExchange, isAlike: boolean): AnswerChange[] {
  const [was, is] = [shapeOf(answerValue(before.response)), shapeOf(answerValue(now.response))];
  const counts = (path: string) => isAlike || !SAID.test(path);
  // What is null now and then has no type that could change.
  const differs = (one: Map<string, string>, other: Map<string, string>) =>
    [...one].filter(
      ([path, type]) => counts(path) && type !== 'null' && (other.get(path) ?? 'none') !== type,
    );
  const gone = differs(was, is).filter(([path]) => is.get(path) !== 'null');
  const come = differs(is, was).filter(([path]) => was.get(path) !== 'null');
  const [first] = [...gone, ...come];
  if (first === undefined) return [];
  const [path] = first;
  return [{ kind: 'shape', detail: detail(path, was.get(path) ?? 'nothing', is.get(path) ?? 'nothing') }];
}

/** The type of every field, whichever item of a list or event of a stream it is in. */
function shapeOf(value: TapeJson | undefined): Map<string, string> {
  const shape = new Map<string, string>();
  const visit = (each: TapeJson, path: string): void => {
    if (Array.isArray(each)) {
      for (const item of each) visit(item, `${path}[]`);
    } else if (typeof each === 'object' && each !== null) {
      for (const [key, item] of Object.entries(each)) visit(item, path === '' ? key : `${path}.${key}`);
    } else if (shape.get(path) === undefined || shape.get(path) === 'null') {
      shape.set(path, each === null ? 'null' : typeof each);
    }
  };
  if (value !== undefined) visit(value, '');
  return shape;
}

/** Of services that answer with numbers: embeddings, and the order that a reranker gives. */
function numbersChange(before: TapeExchange, now: TapeExchange): AnswerChange[] {
  const [was, is] = [answerValue(before.response), answerValue(now.response)];
  const [vectors, other] = [vectorsIn(was), vectorsIn(is)];
  if (vectors.length > 0 && !sameVectors(vectors, other))
    return [{ kind: 'vectors', detail: `${vectors.length} vectors, not all within a cosine of 0.999` }];
  const [order, another] = [rankingIn(was), rankingIn(is)];
  if (order === null || another === null || order === another) return [];
  return [{ kind: 'ranking', detail: detail('order', order, another) }];
}

function vectorsIn(value: TapeJson | undefined): number[][] {
  if (typeof value !== 'object' || value === null) return [];
  const isVector =
    Array.isArray(value) && value.length >= 16 && value.every((each) => typeof each === 'number');
  return isVector ? [value as number[]] : Object.values(value).flatMap(vectorsIn);
}

function rankingIn(value: TapeJson | undefined): string | null {
  const results = typeof value === 'object' && value !== null && !Array.isArray(value) ? value.results : null;
  if (!Array.isArray(results)) return null;
  const order = results.map((each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? each.index : undefined,
  );
  return order.every((index) => typeof index === 'number') ? order.join(' ') : null;
}

function parsed(text: string): TapeJson {
  try {
    return JSON.parse(text) as TapeJson;
  } catch {
    return text;
  }
}

function detail(path: string, was: TapeJson, is: TapeJson): string {
  return formatDifference({ path, before: was, after: is }).trim();
}
