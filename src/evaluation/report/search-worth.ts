import { createSampler } from '../statistics/bootstrap.ts';
import { createColumn } from '../statistics/column.ts';
import { type ColumnPair, compareColumns, HEADLINE } from '../statistics/compare-columns.ts';
import type { Units } from '../statistics/units.ts';
import type { CaseRun } from './case-run.ts';
import type { SearchWorth } from './comparison.ts';
import type { MetricInfo } from './metric-value.ts';
import type { CaseResult, SearchKind } from './report-case.ts';
import type { Arm } from './report-data.ts';

/** One case in one arm, as far as it tells what its search was worth. */
interface Turn {
  needsRetrieval: boolean | null;
  result: Pick<CaseResult, 'runs' | 'metrics'>;
}

type PolicyArm = Pick<Arm, 'name' | 'settings' | 'changed'>;

interface WorthInput {
  arms: readonly PolicyArm[];
  metrics: readonly MetricInfo[];
  /** The turns of each arm, in the order of the cases. */
  turns: readonly (readonly Turn[])[];
  caseIds: readonly string[];
  units: Units;
  seed: number;
  margin: number;
}

/** A turn held against the same question in an arm that decided otherwise. */
interface Judged {
  kind: SearchKind;
  /** With the search and without it: whether the answer was right; null where the case does not say. */
  right: [searched: number, not: number] | null;
  /** What the search added. */
  added: { tokens: number; money: number | null; ms: number } | null;
}

/** Before it is put into sentences. */
type Counted = Omit<SearchWorth, 'verdict'>;

const KINDS: readonly SearchKind[] = ['needed', 'idle', 'harmful', 'missed', 'spared'];
/** Who decides otherwise most plainly comes first. */
const WITHOUT = ['never', 'tool', 'first', 'always'];
const WITH = ['always', 'first', 'tool', 'never'];

/**
 * What each search was worth, turn by turn: the same question in an arm that differs in nothing but its policy, and
 * that searched where this one did not, or did not where this one searched. Arms without such a turn are left out.
 */
export function searchWorth(input: WorthInput): { worth: Counted[]; kinds: (SearchKind | null)[][] } {
  const { arms, turns, caseIds } = input;
  const judged = arms.map((arm, place) => {
    const others = arms.flatMap((other, at) =>
      at !== place && differInPolicyAlone(arm, other) ? [{ policy: other.settings.policy, at }] : [],
    );
    return caseIds.map((_, index) => {
      const turn = turns[place]?.[index] as Turn;
      const searched = hasSearched(turn.result);
      const order = searched ? WITHOUT : WITH;
      const counterpart = others
        .toSorted((a, b) => order.indexOf(a.policy) - order.indexOf(b.policy))
        .map(({ at }) => turns[at]?.[index] as Turn)
        .find(({ result }) => hasSearched(result) !== searched);
      return counterpart === undefined ? null : judge(turn, counterpart, searched);
    });
  });
  const evidence = evidenceOf(judged, input);
  return {
    kinds: judged.map((ofArm) => ofArm.map((one) => one?.kind ?? null)),
    worth: arms.flatMap(({ name }, place): Counted[] => {
      const ofArm = judged[place] ?? [];
      const known = ofArm.filter((one) => one !== null);
      if (known.length === 0) return [];
      return [
        {
          arm: name,
          kinds: KINDS.flatMap((kind) =>
            summary(
              kind,
              known.filter((one) => one.kind === kind),
            ),
          ),
          unknown: ofArm.length - known.length,
          searched: evidence[2 * place] ?? null,
          notSearched: evidence[2 * place + 1] ?? null,
        },
      ];
    }),
  };
}

function judge(turn: Turn, other: Turn, searched: boolean): Judged | null {
  const [withSearch, without] = searched ? [turn, other] : [other, turn];
  const right = [correctOf(withSearch.result), correctOf(without.result)];
  const added = addedBy(withSearch.result, without.result);
  const [found, unaided] = right;
  if (found == null || unaided == null) {
    // Small talk has no right answer, but a case may say that it needs no search.
    return turn.needsRetrieval === false ? { kind: searched ? 'idle' : 'spared', right: null, added } : null;
  }
  const helped = found - unaided;
  const kind = searched
    ? helped > 0
      ? 'needed'
      : helped < 0
        ? 'harmful'
        : 'idle'
    : helped > 0
      ? 'missed'
      : 'spared';
  return { kind, right: [found, unaided], added };
}

function summary(kind: SearchKind, turns: readonly Judged[]): SearchWorth['kinds'] {
  if (turns.length === 0) return [];
  const known = turns.flatMap(({ added }) => added ?? []);
  const mean = (of: (added: NonNullable<Judged['added']>) => number) =>
    known.length === 0 ? null : known.reduce((sum, each) => sum + of(each), 0) / known.length;
  const isPriced = known.every(({ money }) => money !== null);
  return [
    {
      kind,
      turns: turns.length,
      tokens: mean(({ tokens }) => tokens),
      money: isPriced ? mean(({ money }) => money ?? 0) : null,
      ms: mean(({ ms }) => ms),
    },
  ];
}

/** For each arm, first of the turns that searched, then of the others: right with the search against right without it. */
function evidenceOf(
  judged: readonly (readonly (Judged | null)[])[],
  { metrics, caseIds, units, seed, margin }: WorthInput,
) {
  const metric = metrics.find(({ id }) => id === HEADLINE);
  if (metric === undefined) return [];
  const pairs = judged.flatMap((ofArm) =>
    [true, false].map((searched): ColumnPair[] => {
      const [arm, baseline] = [createColumn(ofArm.length), createColumn(ofArm.length)];
      ofArm.forEach((one, index) => {
        if (one?.right == null || wasSearched(one.kind) !== searched) return;
        [arm.of[index], baseline.of[index]] = [1, 1];
        [arm.sum[index], baseline.sum[index]] = one.right;
      });
      return [{ metric, arm, baseline }];
    }),
  );
  const compared = compareColumns(pairs, {
    caseIds,
    units,
    sample: createSampler(seed, units),
    seed,
    margin,
  });
  return compared.map(([one]) => {
    if (one === undefined) return null;
    const { n, difference, interval, adjustedP, conclusion } = one;
    return { n, difference, interval, adjustedP, conclusion };
  });
}

function wasSearched(kind: SearchKind): boolean {
  return kind === 'needed' || kind === 'idle' || kind === 'harmful';
}

/** With repeats, most of them decide. */
function hasSearched({ runs }: Turn['result']): boolean {
  return runs.filter(({ searches }) => searches > 0).length > runs.length / 2;
}

function correctOf({ metrics }: Turn['result']): number | null {
  const value = metrics[HEADLINE];
  return value == null ? null : Number(value > 0.5);
}

function addedBy(withSearch: Turn['result'], without: Turn['result']): Judged['added'] {
  const [more, less] = [spentIn(withSearch.runs), spentIn(without.runs)];
  if (more === null || less === null) return null;
  return {
    tokens: more.tokens - less.tokens,
    money: more.money === null || less.money === null ? null : more.money - less.money,
    ms: more.ms - less.ms,
  };
}

/** What a turn took, over the runs that came to an end. */
function spentIn(runs: readonly CaseRun[]): NonNullable<Judged['added']> | null {
  const ended = runs.filter(({ error }) => error === null);
  if (ended.length === 0) return null;
  const mean = (of: (run: CaseRun) => number) => ended.reduce((sum, run) => sum + of(run), 0) / ended.length;
  return {
    tokens: mean(({ tokens }) => tokens.total),
    money: ended.every(({ cost }) => cost !== null) ? mean(({ cost }) => cost ?? 0) : null,
    ms: mean(({ timesMs }) => timesMs.total),
  };
}

function differInPolicyAlone(a: PolicyArm, b: PolicyArm): boolean {
  const rest = ({ settings, changed }: PolicyArm) =>
    JSON.stringify([
      { ...settings, policy: null },
      { ...changed, policy: null },
    ]);
  return a.settings.policy !== b.settings.policy && rest(a) === rest(b);
}
