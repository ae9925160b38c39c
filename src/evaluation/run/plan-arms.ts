import { AppError } from '../../domain/app-error.ts';
import { oneLine } from '../../domain/visible-text.ts';

export type SettingValue = string | number | boolean;

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

export interface Axes {
  policies?: readonly string[] | undefined;
  models?: readonly string[] | undefined;
  topK?: readonly number[] | undefined;
  modes?: readonly string[] | undefined;
  rerank?: readonly boolean[] | undefined;
  thresholds?: readonly number[] | undefined;
}

/** Every combination of the values, in the order given: the first is what the others are compared with. */
export function armsOfAxes(axes: Axes): ArmPlan[] {
  const used = [
    axis('model', axes.models, String),
    axis('policy', axes.policies, String),
    axis('mode', axes.modes, String),
    axis('topK', axes.topK, (value) => `top-k ${value}`),
    axis('scoreThreshold', axes.thresholds, (value) => `threshold ${value}`),
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

/** An arm written out: `policy=always topK=10`, or with a name in front, `wide: topK=20`. Throws `invalid_input`. */
export function parseArm(expression: string): ArmPlan {
  const [, name, settings = ''] = /^(?:([^=:]+):)?(.*)$/s.exec(expression.trim()) ?? [];
  const changed: ArmPlan['changed'] = {};
  for (const part of settings.split(/[\s,]+/).filter((text) => text !== '')) {
    const [, setting, value] = /^([A-Za-z-]+)=(.+)$/.exec(part) ?? [];
    if (setting === undefined || value === undefined) {
      throw new AppError(
        'invalid_input',
        `"${oneLine(part, 60)}" in --arm is not of the form setting=value.`,
        {
          hint: 'Write for example: --arm "policy=always topK=10" --arm "careful: temperature=0"',
        },
      );
    }
    changed[setting.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())] = readValue(value);
  }
  const plain = Object.entries(changed).map(([setting, value]) => `${setting}=${value}`);
  return { name: name?.trim() || plain.join(' ') || 'as configured', changed };
}

function readValue(text: string): SettingValue {
  if (/^(on|true)$/i.test(text)) return true;
  if (/^(off|false)$/i.test(text)) return false;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Throws `invalid_input` unless there is something to compare, and every arm has a name and settings of its own. */
export function assertComparable(arms: readonly ArmPlan[]): void {
  if (arms.length < 2) {
    throw new AppError('invalid_input', 'There is nothing to compare: one arm was asked for.', {
      hint: 'Name two or more, for example: --policies tool,always, or --top-k 3,5,10, or --arm "policy=always topK=10"',
    });
  }
  const names = arms.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new AppError('invalid_input', `Two arms are called "${oneLine(twice, 60)}".`, {
    hint: 'Give one of them another name: --arm "name: setting=value"',
  });
}
