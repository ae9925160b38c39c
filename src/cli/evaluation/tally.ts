import { canBeCorrect, isCorrect } from '../../evaluation/metrics/answer-metrics.ts';
import { withoutResults } from '../../evaluation/report/assemble-report.ts';
import { formatValue } from '../../evaluation/report/format-value.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { RunProgress } from '../../evaluation/run/run-arms.ts';

type Totals = ReportData['header']['totals'];

/** Counts what a run has come to so far: for the line while it lasts, and for the end. */
export function createTally(currency: string | null, isJudged: boolean) {
  const right = new Map<string, { right: number; judged: number }>();
  let [turns, reused, tokens, judgeTokens] = [0, 0, 0, 0];
  let [money, judgeMoney]: (number | null)[] = currency === null ? [null, null] : [0, 0];
  const plus = (sum: number | null | undefined, cost: number | null) =>
    sum == null ? null : sum + (cost ?? 0);
  return {
    add({ arm, item, run, reused: isReused }: RunProgress): void {
      const gold = withoutResults(item);
      const ofArm = right.get(arm) ?? { right: 0, judged: 0 };
      if (canBeCorrect(gold)) {
        right.set(arm, { right: ofArm.right + Number(isCorrect(run, gold)), judged: ofArm.judged + 1 });
      }
      turns += 1;
      if (isReused) {
        reused += 1;
        return;
      }
      tokens += run.tokens.total;
      money = plus(money, run.cost);
      judgeTokens += run.judge?.tokens.total ?? 0;
      judgeMoney = plus(judgeMoney, run.judge?.cost ?? 0);
      for (const check of run.checks) {
        judgeTokens += check.tokens;
        judgeMoney = plus(judgeMoney, check.cost);
      }
    },
    /** How it stands, for the arm that was last asked. */
    line(arm: string): string {
      const { right: count, judged } = right.get(arm) ?? { right: 0, judged: 0 };
      const spent = (money ?? 0) + (judgeMoney ?? 0);
      return [
        judged === 0 ? arm : `${arm} ${count}/${judged} right`,
        `${tokens + judgeTokens} tokens`,
        ...(currency === null ? [] : [`${formatValue(spent, 'money')} ${currency}`]),
      ].join(', ');
    },
    totals: (): Totals => ({
      turns,
      reused,
      tokens,
      money: money ?? null,
      judge: isJudged ? { tokens: judgeTokens, money: judgeMoney ?? null } : null,
    }),
  };
}
