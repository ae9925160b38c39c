import papaparse from 'papaparse';
import type { ParsedDocument } from '../../domain/document.ts';
import { createBlockWriter } from './block-writer.ts';
import { writeRows } from './write-rows.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/** Values separated by commas, semicolons, tabs or bars: whichever fits best. What is malformed is read as well as it can be. */
export async function parseCsv(source: string): Promise<ParsedDocument> {
  // Blank lines mislead the guess, and count as rows all the same.
  const { meta } = papaparse.parse(source, {
    preview: 20,
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  });
  const { data } = papaparse.parse<string[]>(source, { delimiter: meta.delimiter });
  const writer = createBlockWriter();
  await writeRows(writer, data, { hasSeveralTables: false });
  return { title: null, metadata: {}, ...writer.finish() };
}
