import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AppError, type ErrorKind, messageOf } from '../domain/app-error.ts';

/** The variables of a `.env` file; none when there is no such file. */
export function readDotEnv(path: string): Record<string, string | undefined> {
  const text = readIfPresent(path, 'configuration_error');
  return text === undefined ? {} : parseEnv(text);
}

/** The fields of a config file; undefined when there is no such file. */
export function readConfigFile(path: string, whenUnreadable: ErrorKind): Record<string, unknown> | undefined {
  const text = readIfPresent(path, whenUnreadable);
  if (text === undefined) return undefined;
  const value = parseJson(text, path);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AppError('configuration_error', `${path} must hold one JSON object.`);
}

function readIfPresent(path: string, kind: ErrorKind): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new AppError(kind, `${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes the file, which may hold what should not be printed.
    const place = /\(line \d+ column \d+\)/.exec(messageOf(error))?.[0] ?? '';
    throw new AppError(
      'configuration_error',
      `${path} is not valid JSON${place === '' ? '' : ` ${place}`}.`,
      {
        hint: 'Comments and trailing commas are not allowed there.',
      },
    );
  }
}
