import { type Advice, advice, settingName, settingValue } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { parseJson } from '../text/parse-json.ts';
import { oneLine } from '../text/visible-text.ts';
import { diffJson, formatJsonDifference, type JsonDifference, jsonSimilarity } from './diff-json.ts';
import { canonicalJson, canonicalPath } from './match-key.ts';
import type { Tape } from './read-tape.ts';
import {
  bodyValue,
  type TapeBody,
  type TapeExchange,
  type TapeJson,
  type TapeRequest,
} from './tape-format.ts';

const SHOWN_DIFFERENCES = 8;

const UPDATE_TAPE_HINT: Advice = advice`To update the tape: ${settingValue('onMiss', 'record', 'replay its command and record what is missing')}. To replace it: ${settingName('record', 'record its command again')}.`;

/** A setting that differs from the recorded run. */
export interface SettingChange {
  name: string;
  before: TapeJson | undefined;
  after: TapeJson | undefined;
}

/** What is known of a replay besides its requests. */
export interface ReplayContext {
  changedSettings: readonly SettingChange[];
  /** Null if unknown. */
  collectionChanged: boolean | null;
}

export const EMPTY_REPLAY_CONTEXT: ReplayContext = { changedSettings: [], collectionChanged: null };

/** A request that is not on the tape. */
export interface TapeMiss {
  request: TapeRequest;
  /** The most similar recorded request; null if none has the same method and path. */
  nearest: { id: number; differences: JsonDifference[] } | null;
  reason: string;
}

/** Compares the request with every exchange of the tape. */
export function explainMiss(
  request: TapeRequest,
  tape: Pick<Tape, 'exchanges'>,
  context: ReplayContext = EMPTY_REPLAY_CONTEXT,
): TapeMiss {
  const body = comparableBody(request.body);
  let best: { exchange: TapeExchange; score: number } | null = null;
  for (const exchange of tape.exchanges) {
    const recorded = exchange.request;
    if (recorded.method !== request.method || canonicalPath(recorded.url) !== canonicalPath(request.url))
      continue;
    const score = jsonSimilarity(comparableBody(recorded.body), body);
    if (best === null || score > best.score) best = { exchange, score };
  }
  if (best === null) {
    const reason = formatSettingChanges(context) ?? 'no request to this path was recorded';
    return { request, nearest: null, reason };
  }
  const differences = diffJson(comparableBody(best.exchange.request.body), body);
  return {
    request,
    nearest: { id: best.exchange.id, differences },
    reason: explainRequestChange(differences, context),
  };
}

export function toTapeMissError({ request, nearest, reason }: TapeMiss, path: string): AppError {
  const shown = (nearest?.differences ?? []).slice(0, SHOWN_DIFFERENCES).map(formatJsonDifference);
  const more = (nearest?.differences.length ?? 0) - shown.length;
  const lines = [
    ...(nearest === null ? [] : [`The nearest recorded request is exchange ${nearest.id}. It differs in:`]),
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    `Likely reason: ${reason}.`,
  ];
  const line = oneLine(`${request.method} ${canonicalPath(request.url)}`, 100);
  return new AppError('replay_drift', `The tape ${path} has no answer to this request: ${line}.`, {
    hint: [`${lines.join('\n')}\n`, ...UPDATE_TAPE_HINT],
    recoverable: false,
  });
}

const DIFFERENT_CHUNKS = 'the search returned different chunks';

/** What a difference in a request field usually comes from. The first match counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^model$/, 'the model changed'],
  [/^(?:tools|tool_choice|functions)\b/, 'the tools or their schema changed'],
  [/^(?:instructions|messages\[0\])/, 'the system prompt changed'],
  [/^(?:temperature|max_\w*tokens|stream|top_p)\b/, 'the model settings changed'],
  [/\.output$|tool|results|documents\b/, DIFFERENT_CHUNKS],
  [
    /^(?:messages|input|query|texts|prompt)\b/,
    'the question, the prompt or the conversation history changed',
  ],
  [/vector|filter|limit|prefetch|points/, 'the search or the stored data changed'],
];

/** Why a request differs from the nearest recorded one. */
function explainRequestChange(differences: readonly JsonDifference[], context: ReplayContext): string {
  if (differences.length === 0) return 'the request is made more often than it was recorded';
  const [, reason] = REASONS.find(([field]) => differences.some(({ path }) => field.test(path))) ?? [];
  const collection =
    reason === DIFFERENT_CHUNKS && context.collectionChanged ? `${reason}: the collection changed` : null;
  return formatSettingChanges(context) ?? collection ?? reason ?? 'the request changed';
}

/** Why a run has another result although every request was on the tape. */
export function explainOutputChange(context: ReplayContext): string {
  return (
    formatSettingChanges(context) ??
    (context.collectionChanged ? 'the collection changed' : null) ??
    'this version of citeloop searches, answers or checks differently'
  );
}

function formatSettingChanges({ changedSettings }: ReplayContext): string | null {
  return changedSettings.length === 0 ? null : changedSettings.map(formatSettingChange).join(', ');
}

function formatSettingChange({ name, before, after }: SettingChange): string {
  const [was = '', is = ''] = [before, after].map((value) =>
    value === undefined ? 'not set' : JSON.stringify(value),
  );
  if (was.length + is.length > 80) return `${oneLine(name, 40)} changed`;
  return `${oneLine(name, 40)} is ${oneLine(is, 80)} (recorded: ${oneLine(was, 80)})`;
}

/** JSON in strings is parsed, so that its fields are compared one by one. */
function comparableBody(body: TapeBody | undefined): TapeJson | undefined {
  return body && 'json' in body ? parseNestedJson(canonicalJson(body.json)) : bodyValue(body);
}

function parseNestedJson(value: TapeJson): TapeJson {
  if (typeof value === 'string' && /^[{[]/.test(value)) {
    const parsed = parseJson<TapeJson>(value);
    return parsed === undefined ? value : parseNestedJson(parsed);
  }
  if (Array.isArray(value)) return value.map(parseNestedJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, parseNestedJson(each)]));
}
