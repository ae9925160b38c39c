import { existsSync } from 'node:fs';
import { AppError } from '../../domain/app-error.ts';

/** What a person has corrected by hand must not be lost to a second draft. Throws `invalid_input`. */
export function refuseExisting(path: string, force: boolean | undefined): void {
  if (force || !existsSync(path)) return;
  throw new AppError('invalid_input', `${path} is there already.`, {
    hint: 'Choose another file with --output, or write over it with --force.',
  });
}
