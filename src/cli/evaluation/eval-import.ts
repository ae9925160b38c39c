import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { indexSources } from '../../app/index-documents.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { importCases } from '../../evaluation/cases/import-cases.ts';
import {
  parseCorpus,
  parseQrels,
  parseQueries,
  toCorpusFileName,
} from '../../evaluation/cases/parse-beir.ts';
import { formatCases } from '../../evaluation/cases/parse-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import type { SourceEntry } from '../../ports/document-source.ts';
import { formatCount } from '../../text/format-count.ts';
import { withApp } from '../commands/with-app.ts';
import { createIndexingBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import {
  assertNotExisting,
  type JsonCommandFlags,
  readInputFile,
  writeOutputFile,
} from './evaluation-files.ts';

export interface EvalImportFlags extends JsonCommandFlags {
  /** A file of questions, or a BEIR folder. */
  path?: string | undefined;
  output?: string | undefined;
  limit?: number | undefined;
  force?: boolean | undefined;
}

const QRELS_FILES = ['qrels.tsv', 'qrels/test.tsv', 'qrels/dev.tsv', 'qrels/train.tsv'];

/** Converts a file of questions to cases, or a BEIR folder to cases and a collection. */
export async function runEvalImport({ json, path = '', ...flags }: EvalImportFlags): Promise<void> {
  const file = flags.output ?? 'cases.jsonl';
  const limit = parseFlag('--limit', flags.limit, integerSchema(1));
  assertNotExisting(file, flags.force);
  const isFile = statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true;
  const { cases: all, skipped } = isFile
    ? importCases(await readInputFile(path, 'File'), path)
    : { cases: await readBeirCases(path), skipped: [] };
  const cases = takeEvenly(all, limit);
  const corpus = isFile ? null : await ingestCorpus(path, flags);
  await writeOutputFile(file, formatCases(cases, file));

  const terminal = createTerminal(process.stdout);
  if (json !== undefined) {
    const details = corpus ?? { skipped };
    terminal.write(`${JSON.stringify({ file, cases: cases.length, ...details })}\n`);
    return;
  }
  const sentences = [`Imported ${formatCount(cases.length, 'case')} to ${file}.`];
  if (skipped.length > 0) sentences.push(`Skipped: ${skipped.join(', ')}.`);
  if (corpus !== null) {
    const failures = corpus.failed.length > 0 ? ` (${corpus.failed.length} failed)` : '';
    sentences.push(
      `Indexed ${formatCount(corpus.documents, 'document')} in ${corpus.collection}${failures}.`,
    );
  }
  const collection = corpus === null ? '' : ` --collection ${corpus.collection}`;
  terminal.write(terminal.text(`${sentences.join(' ')} Run: citeloop eval ${file}${collection}\n`));
}

async function readBeirCases(folder: string): Promise<EvaluationCase[]> {
  const qrels = QRELS_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (qrels === undefined) {
    throw new AppError('invalid_input', `${folder} is not a BEIR folder.`, {
      hint: 'Pass a folder with corpus.jsonl, queries.jsonl and qrels.tsv or qrels/test.tsv.',
    });
  }
  const queries = join(folder, 'queries.jsonl');
  const relevant = parseQrels(await readInputFile(qrels, 'File'), qrels);
  return parseQueries(await readInputFile(queries, 'File'), queries, relevant);
}

/** Indexes the rows of a corpus as documents, each with a URI below that of the corpus file. */
async function ingestCorpus(folder: string, flags: Omit<EvalImportFlags, 'json' | 'path'>) {
  const collection =
    flags.collection ??
    basename(resolve(folder))
      .replace(/^\W+|[^\w.-]+/g, '_')
      .slice(0, 128);
  const whenInterrupted = 'Run the same command again to continue; indexed documents are kept.';
  const corpus = join(folder, 'corpus.jsonl');
  const rows = parseCorpus(await readInputFile(corpus, 'File'), corpus).filter(({ text }) => text.trim());
  const root = `${pathToFileURL(corpus).href}/`;
  const titles = new Map<string, string>();
  const entries = rows.map(({ _id, title, text }): SourceEntry => {
    const relativePath = toCorpusFileName(_id);
    const uri = root + relativePath;
    if (title) titles.set(uri, title);
    const read = async () => ({ uri, mediaType: 'text' as const, bytes: new TextEncoder().encode(text) });
    return { uri, root, relativePath, read };
  });
  const source = {
    total: entries.length,
    async *entries() {
      yield* entries;
    },
    covers: ({ uri }: { uri: string }) => uri.startsWith(root),
  };
  const bar = createIndexingBar('Indexing the corpus');
  try {
    const { failed } = await withApp(
      { flags: { ...flags, collection }, whenInterrupted },
      (app, { signal }) =>
        indexSources(app, collection, [source], {
          titleOf: (uri) => titles.get(uri) ?? null,
          // A row exists as long as its corpus file does.
          stillExists: async (uri) => existsSync(new URL(uri.slice(0, uri.lastIndexOf('/')))),
          prune: true,
          signal,
          onProgress: bar.update,
        }),
    );
    return { collection, documents: entries.length, failed };
  } finally {
    bar.clear();
  }
}

/** At most `limit` cases, spread evenly over the list. */
function takeEvenly(cases: EvaluationCase[], limit = cases.length): EvaluationCase[] {
  return cases.filter((_, index) => (index * limit) % cases.length < limit);
}
