import { canBeCorrect, isCorrect } from '../../evaluation/metrics/answer-metrics.ts';
import { toPlainCase } from '../../evaluation/report/assemble-report.ts';
import { formatValue } from '../../evaluation/report/format-value.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import type { RunProgress } from '../../evaluation/run/run-arms.ts';

type RunTotals = ReportData['header']['totals'];

/** Counts correct answers, tokens and cost while an evaluation runs. `currency` is null without prices. */
export function createRunTally(currency: string | null, isJudged: boolean) {
  const correct = new Map<string, { right: number; judged: number }>();
  const spent = { tokens: 0, money: 0 };
  const judge = { tokens: 0, money: 0 };
  let turns = 0;
  let reused = 0;
  const toMoney = (amount: number) => (currency === null ? null : amount);
  return {
    add(progress: RunProgress): void {
      const { arm, run } = progress;
      const gold = toPlainCase(progress.item);
      const { right, judged } = correct.get(arm) ?? { right: 0, judged: 0 };
      if (canBeCorrect(gold)) {
        correct.set(arm, { right: right + Number(isCorrect(run, gold)), judged: judged + 1 });
      }
      turns += 1;
      if (progress.reused) {
        reused += 1;
        return;
      }
      spent.tokens += run.tokens.total;
      spent.money += run.cost ?? 0;
      const judgements = [
        { tokens: run.judge?.tokens.total ?? 0, cost: run.judge?.cost ?? 0 },
        ...run.checks,
      ];
      for (const { tokens, cost } of judgements) {
        judge.tokens += tokens;
        judge.money += cost ?? 0;
      }
    },
    /** The progress line, with the correct answers of one arm. */
    formatLine(arm: string): string {
      const { right, judged } = correct.get(arm) ?? { right: 0, judged: 0 };
      return [
        judged === 0 ? arm : `${arm} ${right}/${judged} correct`,
        `${spent.tokens + judge.tokens} tokens`,
        ...(currency === null ? [] : [`${formatValue(spent.money + judge.money, 'money')} ${currency}`]),
      ].join(', ');
    },
    totals: (): RunTotals => ({
      turns,
      reused,
      tokens: spent.tokens,
      money: toMoney(spent.money),
      judge: isJudged ? { tokens: judge.tokens, money: toMoney(judge.money) } : null,
    }),
  };
}
