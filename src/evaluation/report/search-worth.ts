import { HEADLINE_METRIC } from '../statistics/compare-columns.ts';
import type { Arm, CaseResult, SearchKind, SearchWorth } from './report-data.ts';

const SEARCH_KINDS: readonly SearchKind[] = ['needed', 'idle', 'harmful', 'missed', 'spared'];
/** From the policy that searches least to the one that searches most. */
const POLICIES_BY_SEARCH: readonly string[] = ['never', 'tool', 'first', 'always'];

/** The result of one case in one arm. */
interface SearchTurn {
  needsRetrieval: boolean | null;
  result: Pick<CaseResult, 'runs' | 'metrics'>;
}

type PolicyArm = Pick<Arm, 'name' | 'settings' | 'changed'>;

/** A turn compared with its counterpart. */
interface TurnWorth {
  kind: SearchKind;
  /** Null if a run failed. */
  addedTokens: number | null;
}

/**
 * Compares each turn with the same question in an arm that differs in its policy only and decided otherwise about
 * searching. `turns` has a list per arm, in the order of the cases; so has `kinds`.
 */
export function measureSearchWorth(
  arms: readonly PolicyArm[],
  turns: readonly (readonly SearchTurn[])[],
): { worth: SearchWorth[]; kinds: (SearchKind | null)[][] } {
  const compared = arms.map((arm, place) => {
    const others = arms.flatMap((other, at) =>
      differInPolicyOnly(arm, other) ? [{ at, policy: other.settings.policy }] : [],
    );
    others.sort((a, b) => POLICIES_BY_SEARCH.indexOf(a.policy) - POLICIES_BY_SEARCH.indexOf(b.policy));
    return (turns[place] ?? []).map((turn, index) => {
      const searched = hasSearched(turn.result);
      // The policy that decides otherwise most often comes first.
      const counterpart = (searched ? others : others.toReversed())
        .map(({ at }) => turns[at]?.[index] as SearchTurn)
        .find(({ result }) => hasSearched(result) !== searched);
      return counterpart === undefined ? null : compareTurns(turn, counterpart, searched);
    });
  });
  const worth = compared.flatMap((ofArm, place): SearchWorth[] => {
    const known = ofArm.filter((one) => one !== null);
    const kinds = SEARCH_KINDS.flatMap((kind) => {
      const ofKind = known.filter((one) => one.kind === kind);
      const tokens = mean(ofKind.flatMap(({ addedTokens }) => addedTokens ?? []));
      return ofKind.length === 0 ? [] : [{ kind, turns: ofKind.length, tokens }];
    });
    const unknown = ofArm.length - known.length;
    return known.length === 0 ? [] : [{ arm: arms[place]?.name ?? '', kinds, unknown }];
  });
  return { worth, kinds: compared.map((ofArm) => ofArm.map((one) => one?.kind ?? null)) };
}

function compareTurns(turn: SearchTurn, other: SearchTurn, searched: boolean): TurnWorth | null {
  const [withSearch, without] = searched ? [turn.result, other.result] : [other.result, turn.result];
  const [more, less] = [meanTokens(withSearch), meanTokens(without)];
  const addedTokens = more === null || less === null ? null : more - less;
  const [right, rightWithout] = [isRight(withSearch), isRight(without)];
  const noEffect = searched ? 'idle' : 'spared';
  if (right === null || rightWithout === null) {
    // Small talk cannot be judged, but a case may say that it needs no search.
    return turn.needsRetrieval === false ? { kind: noEffect, addedTokens } : null;
  }
  if (right && !rightWithout) return { kind: searched ? 'needed' : 'missed', addedTokens };
  if (searched && rightWithout && !right) return { kind: 'harmful', addedTokens };
  return { kind: noEffect, addedTokens };
}

/** With repeats the majority decides. */
function hasSearched({ runs }: SearchTurn['result']): boolean {
  return runs.filter(({ searches }) => searches > 0).length > runs.length / 2;
}

function isRight({ metrics }: SearchTurn['result']): boolean | null {
  const value = metrics[HEADLINE_METRIC];
  return value == null ? null : value > 0.5;
}

function meanTokens({ runs }: SearchTurn['result']): number | null {
  return mean(runs.filter(({ error }) => error === null).map(({ tokens }) => tokens.total));
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function differInPolicyOnly(a: PolicyArm, b: PolicyArm): boolean {
  const withoutPolicy = ({ settings, changed }: PolicyArm) =>
    JSON.stringify([
      { ...settings, policy: null },
      { ...changed, policy: null },
    ]);
  return a.settings.policy !== b.settings.policy && withoutPolicy(a) === withoutPolicy(b);
}
