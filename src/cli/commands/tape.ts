import { findConfiguredService } from '../../app/configured-services.ts';
import { configuredSecrets } from '../../app/run-settings.ts';
import { loadConfig } from '../../config/load-config.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_SUCCESS, exitCodeOf } from '../../faults/exit-code.ts';
import { createRedactor, type Redactor } from '../../faults/redactor.ts';
import { readJsonFile } from '../../files/read-input-file.ts';
import type { AnswerChangeKind } from '../../tape/diff-answers.ts';
import { diffTapes } from '../../tape/diff-tapes.ts';
import { parseHar, toHar } from '../../tape/har.ts';
import { readTape } from '../../tape/read-tape.ts';
import { type ReissueResult, reissueRequests } from '../../tape/reissue-requests.ts';
import { findTapeProblems, summarizeTape } from '../../tape/tape-summary.ts';
import { createTapeWriter } from '../../tape/tape-writer.ts';
import { formatCount } from '../../text/format-count.ts';
import { assertNotExisting, writeOutputFile } from '../evaluation/evaluation-files.ts';
import type { CommonFlags, FlagValues } from '../flags/common-flags.ts';
import { renderReissueResult, renderTape, renderTapeDifference } from '../terminal/tape-views.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { withInterruptSignal } from './with-app.ts';

export interface TapeCommandFlags
  extends CommonFlags,
    FlagValues<'tape' | 'har' | 'before' | 'after', string>,
    FlagValues<'tapes' | 'redact', string[]> {
  sample?: number | undefined;
  allow?: AnswerChangeKind[] | undefined;
}

const EXIT_PROBLEMS = 2;
const EXIT_DRIFT = exitCodeOf(new AppError('replay_drift', ''));
const DEFAULT_SAMPLE = 10;

export async function showTape({ tape: path = '', json }: TapeCommandFlags): Promise<void> {
  const tape = readTape(path);
  if (json) process.stdout.write(`${JSON.stringify(summarizeTape(tape))}\n`);
  else renderTape(createTerminal(process.stdout), tape);
}

/** Exit code 2 if a tape has a problem. */
export function checkTapes({ tapes = [], redact = [], json, config }: TapeCommandFlags): number {
  const redactor = configuredRedactorWith(redact, config);
  const results = tapes.map((path) => ({ tape: path, problems: problemsOf(path, redactor) }));
  if (json) process.stdout.write(`${JSON.stringify({ tapes: results })}\n`);
  else {
    const terminal = createTerminal(process.stdout);
    for (const { tape, problems } of results) {
      const verdict = problems.length === 0 ? terminal.text('ok', 'green') : terminal.text('not ok', 'red');
      terminal.write(`${verdict} ${terminal.text(tape)}\n`);
      for (const problem of problems) terminal.write(`   ${terminal.text(problem)}\n`);
    }
  }
  return results.every(({ problems }) => problems.length === 0) ? EXIT_SUCCESS : EXIT_PROBLEMS;
}

function problemsOf(path: string, redactor: Redactor): string[] {
  try {
    const tape = readTape(path);
    return findTapeProblems(tape, redactor);
  } catch (error) {
    if (error instanceof AppError) return [error.message];
    throw error;
  }
}

/** Lists the entries that cannot be imported. Throws `invalid_input` if none can. */
export async function importHar(flags: TapeCommandFlags): Promise<void> {
  const { har = '', tape: path = '', redact = [], config, json } = flags;
  const redactor = configuredRedactorWith(redact, config);
  const document = readJsonFile(har, 'HAR file');
  const { header, exchanges, outputs, left: unredacted } = parseHar(document, har);
  const left = redactor.value(unredacted);
  if (exchanges.length === 0 && left.length > 0) {
    throw new AppError('invalid_input', `No entry of ${har} can be imported. ${left[0]}`);
  }
  const writer = createTapeWriter({ path, header: { ...header, redact }, redactor });
  for (const exchange of exchanges) writer.append(exchange);
  await writer.close(outputs);
  const lines = [
    `Imported ${formatCount(exchanges.length, 'exchange')} into ${path}`,
    ...(left.length === 0 ? [] : ['Not imported:', ...left.map((each) => `  ${each}`)]),
  ];
  printResult(json, { tape: path, exchanges: exchanges.length, left }, lines.join('\n'));
}

export async function exportHar({
  har = '',
  tape: path = '',
  config,
  json,
}: TapeCommandFlags): Promise<void> {
  const tape = readTape(path);
  const redactor = configuredRedactorWith(tape.header.redact, config);
  const text = `${JSON.stringify(toHar(tape, redactor), null, 2)}\n`;
  assertNotExisting(har, 'Choose another name.');
  await writeOutputFile(har, text);
  printResult(
    json,
    { har, exchanges: tape.exchanges.length },
    `Wrote ${formatCount(tape.exchanges.length, 'exchange')} to ${har}`,
  );
}

/** Exit code 7 if the tapes differ. */
export function diffTapeFiles({ before = '', after = '', json }: TapeCommandFlags): number {
  const oldTape = readTape(before);
  const newTape = readTape(after);
  const difference = diffTapes(oldTape, newTape);
  if (json) process.stdout.write(`${JSON.stringify({ before, after, ...difference })}\n`);
  else renderTapeDifference(createTerminal(process.stdout), { before, after, ...difference });
  return difference.same ? EXIT_SUCCESS : EXIT_DRIFT;
}

/** Exit code 7 if a service answers differently in a way that `--allow` does not name. Throws `invalid_input` if none was asked. */
export function renewTapes(flags: TapeCommandFlags): Promise<number> {
  const { tapes: paths = [], sample = DEFAULT_SAMPLE, allow = [], json } = flags;
  if (!Number.isInteger(sample) || sample < 1)
    throw new AppError('invalid_input', `--sample must be a positive integer, not ${sample}.`);
  const config = loadConfig({ flags: { ...flags }, configPath: flags.config });
  const redactor = createRedactor({ secrets: configuredSecrets(config) });
  return withInterruptSignal(async (signal) => {
    const result = await reissueRequests({
      tapes: paths.map(readTape),
      sample,
      serviceOf: (url) => findConfiguredService(url, config),
      fetch: globalThis.fetch,
      signal,
    });
    if (result.asked.length === 0) throw noCallRepeatedError(redactor.value(result.left));
    const ok = result.asked.every(({ changes }) => changes.every(({ kind }) => allow.includes(kind)));
    const report = redactor.value({ ok, allow, ...result });
    if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else renderReissueResult(createTerminal(process.stdout), report);
    return ok ? EXIT_SUCCESS : EXIT_DRIFT;
  }, 'No tape was changed.');
}

function noCallRepeatedError(left: ReissueResult['left']): AppError {
  const reasons = left.map(({ calls, reason }) => `Skipped ${formatCount(calls, 'call')}: ${reason}.`);
  return new AppError('invalid_input', 'No recorded call could be sent again.', {
    hint: reasons.join('\n') || 'The tapes have no calls.',
  });
}

function configuredRedactorWith(patterns: readonly string[], configPath: string | undefined): Redactor {
  return createRedactor({
    secrets: configuredSecrets(loadConfig({ configPath, whenUntrusted: 'ignore' })),
    patterns,
  });
}

function printResult(json: boolean | undefined, fields: object, sentence: string): void {
  const terminal = createTerminal(process.stdout);
  terminal.write(json ? `${JSON.stringify(fields)}\n` : `${terminal.text(sentence)}\n`);
}
