import { type AdviceGap, advice, settingValue } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { readInputFile } from '../../files/read-input-file.ts';
import { oneLine } from '../../text/visible-text.ts';

type SettingValue = string | number | boolean;

/** An arm by the settings that it changes. */
export interface ArmPlan {
  name: string;
  /** `agent.mjs#name`: a function that answers instead of citeloop. */
  module?: string;
  changed: Record<string, SettingValue>;
}

/** Values of settings to combine. */
type Axis = 'policies' | 'models' | 'topK' | 'modes' | 'rerank' | 'thresholds';
type ArmAxes = Partial<Record<Axis, readonly SettingValue[] | undefined>>;

/** Every combination of the values, in the given order; none without values. Names list the settings that vary. */
export function combineArmSettings(axes: ArmAxes): ArmPlan[] {
  const all: [
    setting: string,
    values: readonly SettingValue[] | undefined,
    label: (value: SettingValue) => string,
  ][] = [
    ['model', axes.models, String],
    ['policy', axes.policies, String],
    ['mode', axes.modes, String],
    ['topK', axes.topK, (value) => `top-k ${value}`],
    ['scoreThreshold', axes.thresholds, (value) => `threshold ${value}`],
    ['rerank', axes.rerank, (value) => (value === true ? 'reranked' : 'not reranked')],
  ];
  const used = all
    .map(([setting, values, label]) => ({ setting, values: [...new Set(values)], label }))
    .filter(({ values }) => values.length > 0);
  if (used.length === 0) return [];
  let plans: { labels: string[]; changed: ArmPlan['changed'] }[] = [{ labels: [], changed: {} }];
  for (const { setting, values, label } of used) {
    const varies = values.length > 1 || used.length === 1;
    plans = plans.flatMap(({ labels, changed }) =>
      values.map((value) => ({
        labels: varies ? [...labels, label(value)] : labels,
        changed: { ...changed, [setting]: value },
      })),
    );
  }
  return plans.map(({ labels, changed }) => ({ name: labels.join(', ') || 'as configured', changed }));
}

/** A setting with its value, which is quoted if it contains spaces. */
const ARM_PART = /\s*([A-Za-z-]+)=("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,]+)(?=[\s,]|$)[\s,]*/y;

/**
 * Parses `policy=always topK=10`, optionally with a name: `terse: systemPrompt="Be brief."`. `systemPrompt=@terse.md`
 * reads the text from a file, and `module:./agent.mjs` names a function that answers. Throws `invalid_input`.
 */
export function parseArm(expression: string): ArmPlan {
  const [, moduleName, module] = /^(?:([^=@"']+?):\s*)?module:\s*(.+)$/s.exec(expression.trim()) ?? [];
  if (module !== undefined) return { name: moduleName?.trim() ?? module, module, changed: {} };
  const [, name, settings = ''] = /^(?:([^=:@"']+):)?(.*)$/s.exec(expression.trim()) ?? [];
  const changed: ArmPlan['changed'] = {};
  const parts: string[] = [];
  ARM_PART.lastIndex = 0;
  while (ARM_PART.lastIndex < settings.trimEnd().length) {
    const from = ARM_PART.lastIndex;
    const [whole, setting = '', value = ''] = ARM_PART.exec(settings) ?? [];
    if (whole === undefined) {
      const [part = ''] = settings
        .slice(from)
        .trim()
        .split(/[\s,]+/);
      throw new AppError(
        'invalid_input',
        `"${oneLine(part, 60)}" in --arm is not of the form setting=value.`,
        {
          hint: advice`Examples: ${armExample('policy=always topK=10')} ${armExample('careful: temperature=0')} ${armExample("terse: systemPrompt='Be brief.'")}`,
        },
      );
    }
    const camel = setting.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    parts.push(`${camel}=${value}`);
    const isFile = camel === 'systemPrompt' && value.startsWith('@');
    changed[camel] = isFile ? readInputFile(value.slice(1), 'Prompt file') : parseValue(value);
  }
  return { name: name?.trim() || parts.join(' ') || 'as configured', changed };
}

/** A quoted value is text, whatever it looks like. */
function parseValue(text: string): SettingValue {
  if (/^'/.test(text)) return text.slice(1, -1);
  if (/^"/.test(text)) return text.slice(1, -1).replace(/\\(.)/g, '$1');
  if (/^(on|true)$/i.test(text)) return true;
  if (/^(off|false)$/i.test(text)) return false;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Throws `invalid_input` unless there are two arms or more, all with different names. */
export function assertComparableArms(arms: readonly ArmPlan[]): void {
  if (arms.length < 2) {
    throw new AppError('invalid_input', 'Nothing to compare: there is only one arm.', {
      hint: advice`Give two or more, for example ${settingValue('policies', 'tool,always', 'policies tool,always')}, ${settingValue('topK', '3,5,10', 'topK 3,5,10')} or ${armExample('policy=always topK=10')}`,
    });
  }
  const names = arms.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new AppError('invalid_input', `Two arms have the name "${oneLine(duplicate, 60)}".`, {
    hint: advice`Give one of them another name: ${armExample('name: setting=value')}`,
  });
}

/** The two arms of the question first: `tool,always`. Names may contain commas. Throws `invalid_input`. */
export function orderByQuestion<Arm extends { name: string }>(
  arms: readonly Arm[],
  question: string | undefined,
): readonly Arm[] {
  if (question === undefined) return arms;
  const find = (name: string) => arms.find((arm) => arm.name === name.trim());
  for (const { index } of question.matchAll(/,/g)) {
    const [first, second] = [find(question.slice(0, index)), find(question.slice(index + 1))];
    if (first !== undefined && second !== undefined && first !== second)
      return [first, second, ...arms.filter((arm) => arm !== first && arm !== second)];
  }
  throw new AppError('invalid_input', `--question names no two arms: "${oneLine(question, 60)}".`, {
    hint: `Arms: ${arms.map(({ name }) => name).join('; ')}.`,
  });
}

function armExample(expression: string): AdviceGap {
  return settingValue('arm', `"${expression}"`, `"${expression}"`);
}
