import { type Advice, advice, setting, settingOf } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import { oneLine } from '../text/visible-text.ts';
import { type Difference, diffValues, formatDifference, similarity } from './diff-values.ts';
import { canonicalValue, pathOf } from './match-key.ts';
import type { Tape } from './open-tape.ts';
import type { TapeBody, TapeExchange, TapeJson, TapeRequest } from './tape-format.ts';
import { type Circumstances, NOTHING_KNOWN, whyAsked, whyElsewhere } from './why-parted.ts';

const SHOWN_DIFFERENCES = 8;

const RENEWAL: Advice = advice`To renew the tape where it changed: ${settingOf('onMiss', 'record', 'replay its command and record what is missing')}. To record it afresh: ${setting('record', 'record its command again')}.`;

export interface Miss {
  request: TapeRequest;
  /** The most similar recorded request; null if there is none to the same place. */
  nearest: { id: number; differences: Difference[] } | null;
  reason: string;
}

/** Looks through the whole tape for what comes nearest to a request that is not on it. */
export function findMiss(
  request: TapeRequest,
  tape: Pick<Tape, 'exchanges'>,
  known: Circumstances = NOTHING_KNOWN,
): Miss {
  const body = comparable(request.body);
  let best: { exchange: TapeExchange; score: number } | null = null;
  let sameHost = false;
  for (const exchange of tape.exchanges()) {
    const there = exchange.request;
    sameHost ||= new URL(there.url).host === new URL(request.url).host;
    if (there.method !== request.method || pathOf(there.url) !== pathOf(request.url)) continue;
    const score = similarity(comparable(there.body), body);
    if (best === null || score > best.score) best = { exchange, score };
  }
  if (best === null) return { request, nearest: null, reason: whyElsewhere(sameHost, known) };
  const differences = diffValues(comparable(best.exchange.request.body), body);
  return { request, nearest: { id: best.exchange.id, differences }, reason: whyAsked(differences, known) };
}

export function missError(miss: Miss, path: string): AppError {
  const { request, nearest, reason } = miss;
  const shown = (nearest?.differences ?? []).slice(0, SHOWN_DIFFERENCES).map(formatDifference);
  const more = (nearest?.differences.length ?? 0) - shown.length;
  const lines = [
    ...(nearest === null ? [] : [`The nearest is exchange ${nearest.id} of the tape; it differs in:`]),
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    `Likely reason: ${reason}.`,
  ];
  return new AppError(
    'replay_drift',
    `${oneLine(`${request.method} ${pathOf(request.url)}`, 100)} is not on the tape ${path} as it is asked now.`,
    { hint: [`${lines.join('\n')}\n`, ...RENEWAL], recoverable: false },
  );
}

/** JSON inside of texts is opened up, so that its fields are compared one by one. */
function comparable(body: TapeBody | undefined): TapeJson | undefined {
  if (body === undefined) return undefined;
  if ('json' in body) return opened(canonicalValue(body.json));
  return 'text' in body ? body.text : body.base64;
}

function opened(value: TapeJson): TapeJson {
  if (typeof value === 'string' && /^[{[]/.test(value)) {
    try {
      return opened(JSON.parse(value) as TapeJson);
    } catch {
      return value;
    }
  }
  if (Array.isArray(value))
    return value.length > 15 && typeof value[0] === 'number'
      ? `vector of ${value.length}`
      : value.map(opened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, opened(each)]));
}
