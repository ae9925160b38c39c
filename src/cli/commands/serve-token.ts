import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { ServerFlags } from '../flags/server-flags.ts';

const LEAST_LENGTH = 16;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** The token that callers must send; undefined if none is wanted. Throws `invalid_input`. */
export function tokenOf({ token, tokenFile }: Pick<ServerFlags, 'token' | 'tokenFile'>, host: string) {
  const given = tokenFile === undefined ? token : readToken(tokenFile);
  if (given === undefined) {
    if (isLoopback(host)) return undefined;
    throw new AppError('invalid_input', `Others can reach ${host}, so a token is needed.`, {
      hint: 'Make one with `openssl rand -hex 24` and give it with --token-file or --token.',
    });
  }
  if (given.length < LEAST_LENGTH || /[^\x21-\x7e]/.test(given)) {
    throw new AppError(
      'invalid_input',
      `A token is at least ${LEAST_LENGTH} letters, digits or signs without spaces.`,
      { hint: 'Make one with: openssl rand -hex 24' },
    );
  }
  return given;
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new AppError('invalid_input', `The token file ${path} cannot be read (${messageOf(error)}).`);
  }
}
