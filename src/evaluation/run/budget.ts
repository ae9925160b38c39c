import { AppError } from '../../faults/app-error.ts';

/** Limits the money spent on questions. */
export interface CostBudget {
  /** Whether another question of this arm fits; if so, its likely cost is reserved. */
  reserve(arm: string): boolean;
  /** Replaces a reservation by the actual cost. */
  settle(arm: string, cost: number): void;
  readonly spent: number;
}

export const unlimitedBudget: CostBudget = { reserve: () => true, settle() {}, spent: 0 };

/** The next question may cost this much more than the most expensive one so far. */
const RESERVE_FACTOR = 1.5;

/** A question is reserved 1.5 times the highest cost of its arm so far; the cost of the very first one is unknown. */
export function createBudget(limit: number): CostBudget {
  const highest = new Map<string, number>();
  const reservations: { arm: string; amount: number }[] = [];
  let spent = 0;
  return {
    reserve(arm) {
      const amount = RESERVE_FACTOR * (highest.get(arm) ?? Math.max(0, ...highest.values()));
      const committed = reservations.reduce((sum, each) => sum + each.amount, spent);
      if (committed + amount > limit || committed >= limit) return false;
      reservations.push({ arm, amount });
      return true;
    },
    settle(arm, cost) {
      const index = reservations.findIndex((each) => each.arm === arm);
      if (index >= 0) reservations.splice(index, 1);
      spent += cost;
      highest.set(arm, Math.max(cost, highest.get(arm) ?? 0));
    },
    get spent() {
      return spent;
    },
  };
}

/** Lists the number of missing answers by arm. */
export function budgetExceededError(
  spent: number,
  missing: ReadonlyMap<string, number>,
  total: number,
): AppError {
  const arms = [...missing].filter(([, count]) => count > 0);
  const count = arms.reduce((sum, [, each]) => sum + each, 0);
  const byArm = arms.map(([arm, each]) => `${each} of ${arm}`).join(', ');
  return new AppError(
    'gate_failed',
    `The budget is used up after ${Number(spent.toPrecision(4))}: ${count} of ${total} answers are missing (${byArm}).`,
    { hint: 'Run the same command with a larger --budget to continue.' },
  );
}
