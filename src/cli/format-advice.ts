import { toKebabCase } from '../config/collect-settings.ts';
import type { Advice, AdviceGap } from '../faults/advice.ts';
import type { AppError } from '../faults/app-error.ts';
import { adviceOf } from '../faults/error-response.ts';

interface AdviceOptions {
  inChat?: boolean;
}

const SLASH_SETTINGS = new Set(['model', 'policy', 'collection', 'filter']);

/** Advice with the flags and commands of the command line in its gaps. */
export function formatAdvice(advice: Advice, options: AdviceOptions = {}): string {
  return advice
    .map((part, index) =>
      typeof part === 'string' ? part : fillGap(part, index === advice.length - 1, options),
    )
    .join('');
}

export function formatHint(error: AppError, options: AdviceOptions = {}): string {
  return formatAdvice(adviceOf(error), options);
}

function fillGap(gap: AdviceGap, isLast: boolean, { inChat = false }: AdviceOptions): string {
  switch (gap.type) {
    case 'setting': {
      const given =
        inChat && SLASH_SETTINGS.has(gap.name)
          ? [`/${gap.name}`, ...(gap.value === null ? [] : [gap.value])].join(' ')
          : flag(gap.name, gap.value);
      return `${gap.plain === '' ? ' with ' : ''}${given}`;
    }
    case 'command': {
      const flags = Object.entries(gap.settings).map(([name, value]) => ` ${flag(name, value)}`);
      const line = `citeloop ${gap.words}${flags.join('')}`;
      return isLast ? ` with: ${line}` : ` with \`${line}\``;
    }
    case 'chat':
      return ` with /${gap.word}`;
  }
}

function flag(name: string, value: string | null): string {
  return value === null ? `--${toKebabCase(name)}` : `--${toKebabCase(name)} ${value}`;
}
