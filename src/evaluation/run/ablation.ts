import { formatP } from '../report/format-value.ts';
import type { Arm, Comparison } from '../report/report-data.ts';
import { wilsonInterval } from '../statistics/wilson.ts';
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
    of('some').length > 0 ? `Not without loss: ${of('some').join('; ')}.` : null,
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
  const [first] = watched as [(typeof watched)[number]];
  // Cases that all agree show no spread, but few of them exclude little.
  const low = Math.min(first.interval?.[0] ?? -1, first.difference - wilsonInterval(0, first.n)[1]);
  if (low >= -MARGIN) return { loss: 'none', why: `${first.metric} ${points(first.difference)}` };
  const why = `${first.metric} ${points(first.difference)}, but ${points(low)} are not excluded`;
  return { loss: 'unknown', why };
}
