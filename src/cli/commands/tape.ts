import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { configuredSecrets } from '../../app/run-settings.ts';
import { loadConfig } from '../../config/load-config.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { EXIT_DONE } from '../../faults/exit-code.ts';
import { createRedactor, type Redactor } from '../../faults/redactor.ts';
import { parseHar, toHar } from '../../tape/har.ts';
import { openTape, type Tape } from '../../tape/open-tape.ts';
import type { TapeExchange, TapeHeader, TapeJson } from '../../tape/tape-format.ts';
import { findTapeProblems, tapeSummary } from '../../tape/tape-summary.ts';
import { createTapeWriter } from '../../tape/tape-writer.ts';
import { counted } from '../../text/phrasing.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { paged } from '../terminal/paged.ts';
import { renderTape } from '../terminal/tape-views.ts';
import { createTerminal } from '../terminal/terminal.ts';

export interface TapeFileFlags extends CommonFlags {
  tape?: string | undefined;
}

export interface TapeCheckFlags extends CommonFlags {
  tapes?: string[] | undefined;
  redact?: string[] | undefined;
}

export interface TapeScrubFlags extends TapeFileFlags {
  redact?: string[] | undefined;
  output?: string | undefined;
}

export interface TapeHarFlags extends TapeFileFlags {
  har?: string | undefined;
}

export interface TapeImportFlags extends TapeHarFlags {
  redact?: string[] | undefined;
}

const EXIT_PROBLEMS = 2;

export async function showTape({ tape: path = '', json }: TapeFileFlags): Promise<void> {
  const tape = openTape(path);
  try {
    if (json) process.stdout.write(`${JSON.stringify(tapeSummary(tape))}\n`);
    else await paged(process, (terminal) => renderTape(terminal, tape));
  } finally {
    tape.close();
  }
}

/** Exit code 2 if any of them has a problem. */
export async function checkTapes({ tapes = [], redact = [], json, config }: TapeCheckFlags): Promise<number> {
  const redactor = redactorOf(redact, config);
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
  return results.every(({ problems }) => problems.length === 0) ? EXIT_DONE : EXIT_PROBLEMS;
}

function problemsOf(path: string, redactor: Redactor): string[] {
  try {
    const tape = openTape(path);
    try {
      return findTapeProblems(tape, redactor);
    } finally {
      tape.close();
    }
  } catch (error) {
    if (error instanceof AppError) return [error.message];
    throw error;
  }
}

export async function scrubTape({
  tape: path = '',
  redact = [],
  output,
  config,
  json,
}: TapeScrubFlags): Promise<void> {
  const tape = openTape(path);
  try {
    if (tape.edited) {
      throw new AppError('invalid_input', `${path} says that it was recorded, but it was changed since.`, {
        hint: 'Its "origin" must say "written by hand" before it can be scrubbed, or record it again.',
      });
    }
    if (!tape.complete) {
      throw new AppError('invalid_input', `${path} is incomplete: its recording was interrupted.`, {
        hint: 'Record it again.',
      });
    }
    const header = { ...tape.header, redact: [...new Set([...tape.header.redact, ...redact])] };
    const target = output ?? path;
    await writeTape(
      target,
      header,
      tape.exchanges(),
      tape.tail?.outputs ?? null,
      redactorOf(header.redact, config),
    );
    report(
      json,
      { tape: target, exchanges: tape.count },
      `Scrubbed ${counted(tape.count, 'exchange')} in ${target}`,
    );
  } finally {
    tape.close();
  }
}

/** Lists the entries that cannot be imported. Throws `invalid_input` if none can. */
export async function importHar({
  har = '',
  tape: path = '',
  redact = [],
  config,
  json,
}: TapeImportFlags): Promise<void> {
  const redactor = redactorOf(redact, config);
  const { header, exchanges, outputs, left: found } = parseHar(await readText(har), har);
  const left = redactor.value(found);
  if (exchanges.length === 0 && left.length > 0) {
    throw new AppError('invalid_input', `No entry of ${har} can be imported. ${left[0]}`);
  }
  await writeTape(path, { ...header, redact }, exchanges, outputs, redactor);
  const sentence = `Imported ${counted(exchanges.length, 'exchange')} into ${path}`;
  const lines =
    left.length === 0 ? [sentence] : [sentence, 'Not imported:', ...left.map((each) => `  ${each}`)];
  report(json, { tape: path, exchanges: exchanges.length, left }, lines.join('\n'));
}

export async function exportHar({ har = '', tape: path = '', config, json }: TapeHarFlags): Promise<void> {
  const tape: Tape = openTape(path);
  const redactor = redactorOf(tape.header.redact, config);
  try {
    const text = `${JSON.stringify(toHar(tape, redactor), null, 2)}\n`;
    await writeFile(resolve(har), text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EEXIST' ? 'it exists already' : messageOf(error);
      throw new AppError('invalid_input', `${har} cannot be written: ${reason}.`, {
        hint: 'Choose another name.',
      });
    });
    report(json, { har, exchanges: tape.count }, `Wrote ${counted(tape.count, 'exchange')} to ${har}`);
  } finally {
    tape.close();
  }
}

async function writeTape(
  path: string,
  header: TapeHeader,
  exchanges: Iterable<TapeExchange>,
  outputs: TapeJson,
  redactor: Redactor,
): Promise<void> {
  const writer = await createTapeWriter({ path, header, redactor });
  for (const exchange of exchanges) writer.append(exchange);
  await writer.close(outputs);
}

function redactorOf(patterns: readonly string[], configPath: string | undefined): Redactor {
  return createRedactor({ secrets: configuredSecrets(loadConfig({ configPath })), patterns });
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new AppError('invalid_input', `${path} cannot be read: ${messageOf(error)}.`, {
      hint: 'Give the path of a HAR file.',
    });
  });
}

function report(json: boolean | undefined, fields: object, sentence: string): void {
  const terminal = createTerminal(process.stdout);
  terminal.write(json ? `${JSON.stringify(fields)}\n` : `${terminal.text(sentence)}\n`);
}
