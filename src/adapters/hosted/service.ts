import { AppError } from '../../domain/app-error.ts';

/** A hosted service as sentences name it, and what they must never show. */
export interface Service {
  /** "Cohere", or "The embedding service at localhost:11434". */
  name: string;
  model: string;
  apiKey: string | undefined;
  /** Where the person sets the key. */
  keyVariable: string;
  /** For one request, until the last byte of its answer. */
  timeoutMs: number;
}

/** Throws what is wrong with the settings of a service, before a request could show the key in its own error. */
export function checkAccess({ name, apiKey, keyVariable }: Service, baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new AppError('configuration_error', `The address of ${lowered(name)} is not usable.`, {
      hint: 'Give an http or https URL without a user name or a password.',
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new AppError(
      'auth_error',
      `The key for ${lowered(name)} is empty or holds spaces or odd characters.`,
      {
        hint: `Check ${keyVariable} in the environment or in .env: it must be the key alone.`,
      },
    );
  }
}

/** A service's name inside a sentence. */
export function lowered(name: string): string {
  return name.replace(/^The /, 'the ');
}
