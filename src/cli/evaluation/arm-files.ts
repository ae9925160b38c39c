import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { ArmFiles } from '../../evaluation/run/plan-arms.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';

/** The files that arms name: JSON or YAML of settings, and texts. */
export const armFiles: ArmFiles = {
  settings(path) {
    const found = readSettings(path);
    for (const [name, value] of Object.entries(found)) {
      if (['string', 'number', 'boolean'].includes(typeof value)) continue;
      throw new AppError('invalid_input', `"${name}" in ${path} is no text, number or yes and no.`, {
        hint: 'The settings that an arm can change are in docs/settings.md.',
      });
    }
    return found as Record<string, string | number | boolean>;
  },
  text(path) {
    return readText(path).replace(/^\ufeff/, '');
  },
};

function readSettings(path: string): Record<string, unknown> {
  const text = readText(path);
  let found: unknown;
  try {
    found = parse(text);
  } catch (error) {
    throw new AppError('invalid_input', `${path} is neither JSON nor YAML.`, {
      hint: messageOf(error),
      cause: error,
    });
  }
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) {
    return found as Record<string, unknown>;
  }
  throw new AppError('invalid_input', `${path} holds no settings.`, {
    hint: 'Write their names and values, for example: {"policy": "always", "topK": 10}',
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError('invalid_input', `${path}, which an arm names, cannot be read.`, {
      hint: messageOf(error),
      cause: error,
    });
  }
}
