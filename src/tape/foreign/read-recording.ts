import { parse } from 'yaml';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { ForeignRecording } from './foreign-recording.ts';
import { fromHar } from './from-har.ts';
import { fromNock, isNock } from './from-nock.ts';
import { fromVcr, isCassette } from './from-vcr.ts';

/**
 * What others recorded, told by what it holds: a HAR file, a cassette of VCR in YAML or JSON, or definitions of nock.
 * Not redacted yet. Throws `invalid_input`.
 */
export function readRecording(text: string, path: string): ForeignRecording {
  const document = parsed(text, path);
  if (isNock(document)) return fromNock(document);
  if (isCassette(document)) return fromVcr(document, path);
  if (typeof document === 'object' && document !== null && 'log' in document) return fromHar(document, path);
  throw new AppError('invalid_input', `${path} is no recording that is known.`, {
    hint: 'HAR files, cassettes of VCR (vcrpy, pytest-recording, Ruby) and definitions of nock can be read.',
  });
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // YAML has no such firm beginning.
  }
  try {
    // Tags of Python stay unresolved, so that nothing is made of them but what they are written as.
    return parse(text, { customTags: ['binary'], logLevel: 'error', maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw new AppError(
      'invalid_input',
      `${path} cannot be read: it is neither JSON nor YAML (${oneLine(messageOf(error), 120)}).`,
      { hint: 'Name a HAR file, a cassette of VCR or definitions of nock.', cause: error },
    );
  }
}
