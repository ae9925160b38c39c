import { formatP } from '../report/format-value.ts';
import type { Arm, Comparison } from '../report/report-data.ts';
import type { ArmPlan } from './plan-arms.ts';

export const ALL_STAGES = 'all stages';
/** A loss of fewer than five in a hundred answers is what "without loss" allows. */
const MARGIN = 0.05;
const WATCHED = ['answer.correct', 'retrieval.recall@5', 'citation.precision', 'abstention.f1'];

/** The settings as they are, and with one stage switched off at a time. */
export function ablationArms(
  settings: Pick<Arm['settings'], 'policy' | 'mode' | 'rerank' | 'scoreThreshold'>,
): ArmPlan[] {
  const arms: ArmPlan[] = [{ name: ALL_STAGES, changed: {} }];
  if (settings.rerank) arms.push({ name: 'no reranking', changed: { rerank: false } });
  if (settings.mode === 'hybrid') {
    arms.push({ name: 'no full text', changed: { mode: 'dense' } });
    arms.push({ name: 'no vectors', changed: { mode: 'lexical' } });
  }
  if (settings.scoreThreshold > 0) arms.push({ name: 'no threshold', changed: { scoreThreshold: 0 } });
  if (settings.policy === 'tool') arms.push({ name: 'no decision', changed: { policy: 'always' } });
  if (settings.policy !== 'never') arms.push({ name: 'no retrieval', changed: { policy: 'never' } });
  return arms;
}

/** Which stages can be switched off without loss, which cannot, and of which that is not known. */
export function ablationVerdict(comparisons: readonly Comparison[]): string[] {
  const judged = comparisons.map((comparison) => ({ arm: comparison.arm, ...judge(comparison) }));
  const of = (loss: 'none' | 'some' | 'unknown') =>
    judged.filter((one) => one.loss === loss).map(({ arm }) => arm);
  const sentences = [
    of('none').length > 0 ? `Can be switched off without loss: ${of('none').join('; ')}.` : null,
    of('some').length > 0 ? `Needed: ${of('some').join('; ')} each lose.` : null,
    of('unknown').length > 0 ? `Not decided by these cases: ${of('unknown').join('; ')}.` : null,
  ];
  return [
    ...sentences.filter((sentence) => sentence !== null),
    ...judged.map(({ arm, why }) => `${arm}: ${why}.`),
  ];
}

interface Judgement {
  loss: 'none' | 'some' | 'unknown';
  why: string;
}

function judge({ metrics }: Comparison): Judgement {
  const watched = metrics.filter(({ metric }) => WATCHED.includes(metric));
  if (watched.length === 0) return { loss: 'unknown', why: 'no case says what is right' };
  const lost = watched.find(({ significant, difference }) => significant && difference < 0);
  const points = (difference: number) =>
    `${difference > 0 ? '+' : ''}${(difference * 100).toFixed(1)} points`;
  if (lost !== undefined) {
    return { loss: 'some', why: `${lost.metric} ${points(lost.difference)} (${formatP(lost.adjustedP)})` };
  }
  const open = watched.find(({ interval }) => interval === null || interval[0] < -MARGIN);
  const [first] = watched as [(typeof watched)[number]];
  if (open === undefined) return { loss: 'none', why: `${first.metric} ${points(first.difference)}` };
  const low = open.interval === null ? 'no interval' : `it may be as low as ${points(open.interval[0])}`;
  return { loss: 'unknown', why: `${open.metric} ${points(open.difference)}, ${low}` };
}
