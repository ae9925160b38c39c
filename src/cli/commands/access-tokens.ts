import * as z from 'zod';
import { parseValue } from '../../config/parse-value.ts';
import { AppError } from '../../faults/app-error.ts';
import { readInputFile } from '../../files/read-input-file.ts';
import type { NamedToken } from '../../server/http/callers.ts';
import { isLoopbackHost } from '../../server/http/guards.ts';
import { parseJson } from '../../text/parse-json.ts';
import type { ServerFlags } from '../flags/server-flags.ts';

const MIN_TOKEN_LENGTH = 16;

/** The token that callers must send; none is needed on the loopback interface. Throws `invalid_input`. */
export function readAccessToken(
  { token, tokenFile }: Pick<ServerFlags, 'token' | 'tokenFile'>,
  host: string,
) {
  const given = tokenFile === undefined ? token : readInputFile(tokenFile, 'Token file').trim();
  if (given === undefined) {
    if (isLoopbackHost(host)) return undefined;
    throw new AppError('invalid_input', `Other machines can reach ${host}, so a token is required.`, {
      hint: 'Create one with `openssl rand -hex 24` and pass it with --token-file or --token.',
    });
  }
  if (given.length < MIN_TOKEN_LENGTH || /[^\x21-\x7e]/.test(given)) {
    throw new AppError(
      'invalid_input',
      `A token needs at least ${MIN_TOKEN_LENGTH} printable ASCII characters without spaces.`,
      { hint: 'Create one: openssl rand -hex 24' },
    );
  }
  return given;
}

const tokenFileSchema = z
  .strictObject({
    tokens: z
      .array(
        z.strictObject({
          name: z.string().trim().min(1).max(64),
          token: z
            .string()
            .min(MIN_TOKEN_LENGTH)
            .regex(/^[\x21-\x7e]+$/),
          concurrent: z.int().min(1).optional(),
        }),
      )
      .min(1),
  })
  .describe(
    'a file such as {"tokens": [{"name": "ada", "token": "16 characters or more", "concurrent": 2}]}',
  );

/** The tokens of --tokens; undefined if the flag is not given. Throws `invalid_input`. */
export function readNamedTokens({ tokens: path }: { tokens?: string | undefined }): NamedToken[] | undefined {
  if (path === undefined) return undefined;
  const { tokens } = parseValue(tokenFileSchema, parseJson(readInputFile(path, 'Token file')), {
    subject: `${path} (flag --tokens)`,
    kind: 'invalid_input',
  });
  for (const field of ['name', 'token'] as const) {
    if (new Set(tokens.map((each) => each[field])).size === tokens.length) continue;
    throw new AppError('invalid_input', `Two tokens in ${path} have the same ${field}.`, {
      hint: 'Names and tokens must be unique.',
    });
  }
  return tokens;
}
