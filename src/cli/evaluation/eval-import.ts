import { importCases } from '../../evaluation/cases/import-cases.ts';
import { formatCases } from '../../evaluation/cases/parse-cases.ts';
import { formatCount } from '../../text/format-count.ts';
import { createTerminal } from '../terminal/terminal.ts';
import {
  assertNotExisting,
  type JsonCommandFlags,
  readInputFile,
  writeOutputFile,
} from './evaluation-files.ts';

export interface EvalImportFlags extends JsonCommandFlags {
  /** A file of questions. */
  path?: string | undefined;
  output?: string | undefined;
  force?: boolean | undefined;
}

/** Converts a file of questions to cases. */
export async function runEvalImport({ json, path = '', ...flags }: EvalImportFlags): Promise<void> {
  const file = flags.output ?? 'cases.jsonl';
  assertNotExisting(file, flags.force);
  const { cases, skipped, changed } = importCases(await readInputFile(path, 'File'), path);
  await writeOutputFile(file, formatCases(cases, file));
  const terminal = createTerminal(process.stdout);
  if (json !== undefined) {
    terminal.write(`${JSON.stringify({ file, cases: cases.length, skipped, changed })}\n`);
    return;
  }
  const lines = [
    `Imported ${formatCount(cases.length, 'case')} to ${file}.`,
    ...(changed.length > 0 ? [`Changed in meaning: ${changed.join('; ')}.`] : []),
    ...(skipped.length > 0 ? [`Skipped: ${skipped.join(', ')}.`] : []),
    `Run: citeloop eval ${file}`,
  ];
  terminal.write(lines.map((line) => terminal.text(`${line}\n`)).join(''));
}
