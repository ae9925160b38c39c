import { inspect, styleText } from 'node:util';
import { AppError, messageOf } from '../faults/app-error.ts';
import { exitCodeOf } from '../faults/exit-code.ts';
import { visibleText } from '../text/visible-text.ts';
import { commandLineError, commandLineHint } from './advice.ts';
import { wrap } from './terminal/wrapping.ts';

const HINT_INDENT = '  ';

/** Prints one line and a hint (or an ErrorResponse as JSON) and returns the exit code. */
export function reportFailure(error: unknown, options: { json: boolean; verbose: boolean }): number {
  const failure = error instanceof AppError ? error : defect(error);
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ error: commandLineError(failure) })}\n`);
  } else {
    const label = styleText('red', 'citeloop:', { stream: process.stderr });
    const width = process.stderr.isTTY
      ? process.stderr.columns - HINT_INDENT.length
      : Number.POSITIVE_INFINITY;
    const hint = visibleText(commandLineHint(failure))
      .split('\n')
      .flatMap((line) => wrap(line, width))
      .join(`\n${HINT_INDENT}`);
    process.stderr.write(`${label} ${visibleText(failure.message)}\n${HINT_INDENT}${hint}\n`);
  }
  if (options.verbose) process.stderr.write(`${inspect(error)}\n`);
  return exitCodeOf(error);
}

function defect(error: unknown): AppError {
  return new AppError('api_error', `Something went wrong that should not have: ${messageOf(error)}`, {
    hint: 'This is a defect of citeloop. Run the command again with --verbose and report what it prints.',
    cause: error,
  });
}
