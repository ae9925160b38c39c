import { AppError } from '../../faults/app-error.ts';

/** What may still be asked. */
export interface Budget {
  /** Whether another question of this arm fits; what it is likely to cost is set aside. */
  allows(arm: string): boolean;
  /** What a question that was allowed has cost. */
  settle(arm: string, cost: number): void;
  readonly spent: number;
}

export const noBudget: Budget = { allows: () => true, settle() {}, spent: 0 };

/** How much dearer than the dearest so far the next may be. */
const RESERVE = 1.5;

/**
 * A budget that is not passed: a question is asked only if half as much again as the dearest one of its arm has cost
 * is left. Of the very first it is not known.
 */
export function createBudget(limit: number): Budget {
  const dearest = new Map<string, number>();
  /** Set aside for questions under way, in the order in which they were allowed. */
  const aside: { arm: string; amount: number }[] = [];
  let spent = 0;
  return {
    allows(arm) {
      const amount = RESERVE * (dearest.get(arm) ?? Math.max(0, ...dearest.values()));
      const bound = aside.reduce((sum, each) => sum + each.amount, 0);
      if (spent + bound + amount > limit || (spent + bound >= limit && limit >= 0)) return false;
      aside.push({ arm, amount });
      return true;
    },
    settle(arm, cost) {
      const at = aside.findIndex((each) => each.arm === arm);
      if (at >= 0) aside.splice(at, 1);
      spent += cost;
      dearest.set(arm, Math.max(cost, dearest.get(arm) ?? 0));
    },
    get spent() {
      return spent;
    },
  };
}

/** The end of an evaluation whose budget is used up: what is missing, by arm. */
export function budgetUsedUp(
  { spent }: Pick<Budget, 'spent'>,
  missing: ReadonlyMap<string, number>,
  total: number,
): AppError {
  const left = [...missing].filter(([, count]) => count > 0);
  const count = left.reduce((sum, [, each]) => sum + each, 0);
  const named = left.map(([arm, each]) => `${each} of ${arm}`).join(', ');
  return new AppError(
    'gate_failed',
    `The budget is used up after ${Number(spent.toPrecision(4))}: ${count} of ${total} answers are missing (${named}).`,
    { hint: 'Give the same command a larger --budget to go on: what was answered is kept.' },
  );
}
