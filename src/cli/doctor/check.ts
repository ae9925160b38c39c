import { AppError, messageOf } from '../../domain/app-error.ts';
import { hintOf } from '../../domain/error-response.ts';

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  /** What to do about it; null if there is nothing to do. */
  fix: string | null;
}

/** A check's detail is what `probe` returns; what it throws is its failure, with the fix as the hint. */
export async function check(name: string, probe: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await probe(), fix: null };
  } catch (error) {
    return {
      name,
      ok: false,
      detail: messageOf(error),
      fix: error instanceof AppError ? hintOf(error) : null,
    };
  }
}
