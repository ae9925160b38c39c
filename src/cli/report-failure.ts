import { inspect } from 'node:util';
import { createConfiguredRedactor } from '../app/run-settings.ts';
import { loadConfig } from '../config/load-config.ts';
import { AppError, messageOf } from '../faults/app-error.ts';
import { diskFullError, isDiskFull } from '../faults/disk-full-error.ts';
import { toErrorResponse } from '../faults/error-response.ts';
import { exitCodeOf } from '../faults/exit-code.ts';
import { createRedactor } from '../faults/redactor.ts';
import { visibleText } from '../text/visible-text.ts';
import { formatHint } from './format-advice.ts';
import { createTerminal, printJson } from './terminal/terminal.ts';
import { renderText, wrapPieces } from './terminal/wrap-text.ts';

const HINT_INDENT = '  ';

/** Prints an error and its hint on stderr, or an ErrorResponse on stdout, and returns the exit code. */
export function reportFailure(
  error: unknown,
  options: { json: boolean; verbose: boolean; inChat?: boolean; defaultHint?: string },
): number {
  const known = isDiskFull(error) ? diskFullError((error as NodeJS.ErrnoException).path, error) : error;
  const failure = known instanceof AppError ? known : internalError(known);
  if (options.json) {
    printJson({ error: toErrorResponse(failure) });
  } else {
    const terminal = createTerminal(process.stderr);
    const label = { text: 'citeloop:', paint: (text: string) => terminal.text(text, 'red') };
    const [message = '', ...more] = visibleText(failure.message).split('\n');
    terminal.write(`${wrapPieces(terminal, [label, { text: message }], HINT_INDENT)}\n`);
    for (const line of more) terminal.write(`${line}\n`);
    const hint = formatHint(failure, options) || (options.defaultHint ?? '');
    for (const line of hint === '' ? [] : hint.split('\n'))
      renderText(terminal, line, { indent: HINT_INDENT });
  }
  if (options.verbose) process.stderr.write(`${redactDetails(inspect(error))}\n`);
  return exitCodeOf(known);
}

function redactDetails(details: string): string {
  try {
    return createConfiguredRedactor(loadConfig()).text(details);
  } catch {
    // The settings may be what failed.
    return createRedactor().text(details);
  }
}

function internalError(error: unknown): AppError {
  return new AppError('api_error', `Internal error: ${messageOf(error)}`, {
    hint: 'This is a bug in citeloop. Please report it with the output of --verbose.',
    cause: error,
  });
}
