import { advice, type Gap, settingOf } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Comparison } from '../report/comparison.ts';
import { formatP } from '../report/format-value.ts';
import type { Arm } from '../report/report-data.ts';

type SettingValue = string | number | boolean;

/** One way to run the cases: what it changes of the settings in force. */
export interface ArmPlan {
  name: string;
  changed: Record<string, SettingValue>;
}

/** Values to try of one setting, and how an arm with such a value is called. */
interface Axis {
  setting: string;
  values: readonly SettingValue[];
  label: (value: SettingValue) => string;
}

interface Axes {
  policies?: readonly string[] | undefined;
  models?: readonly string[] | undefined;
  topK?: readonly number[] | undefined;
  modes?: readonly string[] | undefined;
  rerank?: readonly boolean[] | undefined;
  thresholds?: readonly number[] | undefined;
  /** Prompts, by what they are called. */
  prompts?: ReadonlyMap<string, string> | undefined;
}

/** Every combination of the values, in the order given: the first is what the others are compared with. */
export function armsOfAxes(axes: Axes): ArmPlan[] {
  const used = [
    axis('model', axes.models, String),
    axis('policy', axes.policies, String),
    axis('mode', axes.modes, String),
    axis('topK', axes.topK, (value) => `top-k ${value}`),
    axis('scoreThreshold', axes.thresholds, (value) => `threshold ${value}`),
    axis('systemPrompt', [...(axes.prompts?.values() ?? [])], (value) =>
      String([...(axes.prompts ?? [])].find(([, text]) => text === value)?.[0]),
    ),
    axis('rerank', axes.rerank, (value) => (value === true ? 'reranked' : 'not reranked')),
  ].filter((one) => one.values.length > 0);
  let plans: { labels: string[]; changed: ArmPlan['changed'] }[] = [{ labels: [], changed: {} }];
  for (const { setting, values, label } of used) {
    const telling = values.length > 1 || used.length === 1;
    plans = plans.flatMap(({ labels, changed }) =>
      values.map((value) => ({
        labels: telling ? [...labels, label(value)] : labels,
        changed: { ...changed, [setting]: value },
      })),
    );
  }
  return plans.map(({ labels, changed }) => ({ name: labels.join(', ') || 'as configured', changed }));
}

function axis(setting: string, values: readonly SettingValue[] | undefined, label: Axis['label']): Axis {
  return { setting, values: [...new Set(values ?? [])], label };
}

/** What a file that an arm names holds: settings by their names, or a text. Throws `invalid_input`. */
export interface ArmFiles {
  settings(path: string): Record<string, SettingValue>;
  text(path: string): string;
}

/** A file of settings, or a setting with its value, in quotes where that has spaces. */
const PART = /\s*(?:@(\S+)|([A-Za-z-]+)=("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,]+))(?=[\s,]|$)[\s,]*/y;

/**
 * An arm written out: `policy=always topK=10`, with a name in front, `terse: systemPrompt="Be brief."`, with a text
 * from a file, `systemPrompt=@terse.md`, or with settings from one, `@careful.json topK=20`. Throws `invalid_input`.
 */
export function parseArm(expression: string, files: ArmFiles): ArmPlan {
  const [, name, settings = ''] = /^(?:([^=:@"']+):)?(.*)$/s.exec(expression.trim()) ?? [];
  const changed: ArmPlan['changed'] = {};
  const plain: string[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < settings.trimEnd().length) {
    const from = PART.lastIndex;
    const [whole, path, setting = '', value = ''] = PART.exec(settings) ?? [];
    if (whole === undefined) {
      const [part] = settings
        .slice(from)
        .trim()
        .split(/[\s,]+/);
      throw new AppError(
        'invalid_input',
        `"${oneLine(part ?? '', 60)}" in --arm is not of the form setting=value.`,
        {
          hint: advice`Write for example: ${armOf('policy=always topK=10')} ${armOf('careful: temperature=0')} ${armOf("terse: systemPrompt='Be brief.'")}`,
        },
      );
    }
    plain.push(whole.replace(/[\s,]+$/, '').trim());
    if (path !== undefined) {
      Object.assign(changed, files.settings(path));
      continue;
    }
    const camel = setting.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    plain[plain.length - 1] = `${camel}=${value}`;
    changed[camel] =
      camel === 'systemPrompt' && value.startsWith('@') ? files.text(value.slice(1)) : readValue(value);
  }
  return { name: name?.trim() || plain.join(' ') || 'as configured', changed };
}

function readValue(text: string): SettingValue {
  // What is quoted is a text, whatever it looks like.
  if (/^'/.test(text)) return text.slice(1, -1);
  if (/^"/.test(text)) return text.slice(1, -1).replace(/\\(.)/g, '$1');
  if (/^(on|true)$/i.test(text)) return true;
  if (/^(off|false)$/i.test(text)) return false;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Throws `invalid_input` unless there is something to compare, and every arm has a name and settings of its own. */
export function assertComparable(arms: readonly ArmPlan[]): void {
  if (arms.length < 2) {
    throw new AppError('invalid_input', 'There is nothing to compare: one arm was asked for.', {
      hint: advice`Name two or more, for example: ${settingOf('policies', 'tool,always', 'policies tool,always')}, or ${settingOf('topK', '3,5,10', 'topK 3,5,10')}, or ${armOf('policy=always topK=10')}`,
    });
  }
  const names = arms.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new AppError('invalid_input', `Two arms are called "${oneLine(twice, 60)}".`, {
    hint: advice`Give one of them another name: ${armOf('name: setting=value')}`,
  });
}

function armOf(expression: string): Gap {
  return settingOf('arm', `"${expression}"`, `"${expression}"`);
}

const ALL_STAGES = 'all stages';
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
  const lost = watched.find(({ conclusion }) => conclusion === 'worse');
  const points = (difference: number) =>
    `${difference > 0 ? '+' : ''}${(difference * 100).toFixed(1)} points`;
  if (lost !== undefined) {
    return { loss: 'some', why: `${lost.metric} ${points(lost.difference)} (${formatP(lost.adjustedP)})` };
  }
  const [first] = watched as [(typeof watched)[number]];
  const found = `${first.metric} ${points(first.difference)}`;
  if (first.conclusion === 'equivalent' || first.conclusion === 'better') return { loss: 'none', why: found };
  const { interval, needed } = first;
  const excluded = interval === null ? '' : `, but ${points(interval[0])} are not excluded`;
  const more = needed === null ? '' : `; about ${needed} more cases would decide it`;
  return { loss: 'unknown', why: `${found}${excluded}${more}` };
}
