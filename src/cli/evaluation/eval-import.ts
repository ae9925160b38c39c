import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { indexSources } from '../../app/index-documents.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { importCases } from '../../evaluation/cases/import-cases.ts';
import { parseBeirRows, toBeirCases, toCorpusFileName } from '../../evaluation/cases/parse-beir.ts';
import { formatCases } from '../../evaluation/cases/parse-cases.ts';
import { readInputFile } from '../../files/read-input-file.ts';
import type { DocumentSource, SourceEntry } from '../../ports/document-source.ts';
import { formatCount } from '../../text/format-count.ts';
import { withApp } from '../commands/with-app.ts';
import { createIndexingBar } from '../terminal/progress.ts';
import { createTerminal, printJson } from '../terminal/terminal.ts';
import { assertNotExisting, type JsonCommandFlags, writeOutputFile } from './evaluation-files.ts';

export interface EvalImportFlags extends JsonCommandFlags {
  /** A file of questions, or a BEIR folder. */
  path?: string | undefined;
  output?: string | undefined;
  force?: boolean | undefined;
}

/** Converts a file of questions to cases, or a BEIR folder to cases and a collection. */
export async function runEvalImport({ json, path = '', ...flags }: EvalImportFlags): Promise<void> {
  const file = flags.output ?? 'cases.jsonl';
  if (!flags.force) assertNotExisting(file);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const { cases, skipped, changed } = isFolder
    ? { cases: readBeirCases(path), skipped: [], changed: [] }
    : importCases(readInputFile(path, 'File'), path);
  const indexed = isFolder ? await indexCorpus(path, flags) : null;
  await writeOutputFile(file, formatCases(cases, file));
  if (json !== undefined) return printJson({ file, cases: cases.length, skipped, changed, ...indexed });
  const terminal = createTerminal(process.stdout);
  const lines = [
    `Imported ${formatCount(cases.length, 'case')} to ${file}.`,
    ...(changed.length > 0 ? [`Changed in meaning: ${changed.join('; ')}.`] : []),
    ...(skipped.length > 0 ? [`Skipped: ${skipped.join(', ')}.`] : []),
    ...(indexed ? [`Indexed ${formatCount(indexed.documents, 'document')} in ${indexed.collection}.`] : []),
    `Run: citeloop eval ${file}${indexed ? ` --collection ${indexed.collection}` : ''}`,
  ];
  terminal.write(lines.map((line) => terminal.text(`${line}\n`)).join(''));
}

function readBeirCases(folder: string): EvaluationCase[] {
  const files = ['qrels.tsv', 'qrels/test.tsv', 'qrels/dev.tsv'].map((name) => join(folder, name));
  const qrels = readInputFile(files.find((file) => existsSync(file)) ?? join(folder, 'qrels.tsv'), 'File');
  const queries = join(folder, 'queries.jsonl');
  return toBeirCases(parseBeirRows(readInputFile(queries, 'File'), queries), qrels);
}

/** Indexes the rows of a corpus as documents, each with a URI below that of the corpus file. */
async function indexCorpus(folder: string, flags: Omit<EvalImportFlags, 'json' | 'path'>) {
  const collection = flags.collection ?? basename(resolve(folder)).replace(/^\W+|[^\w.-]+/g, '_');
  const corpus = join(folder, 'corpus.jsonl');
  const root = `${pathToFileURL(corpus).href}/`;
  const titles = new Map<string, string | null>();
  const entries = parseBeirRows(readInputFile(corpus, 'File'), corpus).map((row): SourceEntry => {
    const relativePath = toCorpusFileName(row._id);
    const uri = root + relativePath;
    titles.set(uri, row.title || null);
    const bytes = new TextEncoder().encode(row.text);
    return { uri, root, relativePath, read: async () => ({ uri, mediaType: 'text', bytes }) };
  });
  const source: DocumentSource = {
    total: entries.length,
    async *entries() {
      yield* entries;
    },
    covers: ({ uri }) => uri.startsWith(root),
  };
  const whenInterrupted = 'Run the same command again to continue; indexed documents are kept.';
  const bar = createIndexingBar('Indexing the corpus');
  await withApp({ flags: { ...flags, collection }, whenInterrupted }, (app, { signal }) =>
    indexSources(app, collection, [source], {
      titleOf: (uri) => titles.get(uri) ?? null,
      // A row exists as long as its corpus file does.
      stillExists: async (uri) => existsSync(new URL(uri.slice(0, uri.lastIndexOf('/')))),
      prune: true,
      signal,
      onProgress: bar.update,
    }),
  ).finally(bar.clear);
  return { collection, documents: entries.length };
}
