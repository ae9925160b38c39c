import { createInterface } from 'node:readline/promises';
import { AppError } from '../domain/app-error.ts';

/** Asks before something is lost. Throws `invalid_input` where there is no terminal to ask on. */
export async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new AppError(
      'invalid_input',
      'Deleting needs a confirmation, and there is no terminal to ask on.',
      { hint: 'Give --yes if you are sure.' },
    );
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${question} [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
