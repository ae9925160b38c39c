import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { App } from '../../app/create-app.ts';
import { indexSources } from '../../app/index-documents.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { importCases } from '../../evaluation/cases/import-cases.ts';
import {
  type CorpusDocument,
  parseCorpus,
  parseQrels,
  parseQueries,
  toCorpusFileName,
} from '../../evaluation/cases/parse-beir.ts';
import { formatCases } from '../../evaluation/cases/parse-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import type { IngestSummary } from '../../ingest/ingest.ts';
import type { DocumentSource, SourceEntry } from '../../ports/document-source.ts';
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
export async function runEvalImport({ json, ...flags }: EvalImportFlags): Promise<void> {
  const path = flags.path ?? '';
  const file = flags.output ?? 'cases.jsonl';
  const limit = parseFlag('--limit', flags.limit, integerSchema(1));
  assertNotExisting(file, flags.force);
  const terminal = createTerminal(process.stdout);
  const report = (result: object, sentence: string) =>
    terminal.write(json === undefined ? terminal.text(`${sentence}\n`) : `${JSON.stringify(result)}\n`);
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) {
    const { cases: found, skipped } = importCases(await readInputFile(path, 'File'), path);
    const cases = takeEvenly(found, limit);
    await writeOutputFile(file, formatCases(cases, file));
    const note = skipped.length === 0 ? '' : ` Skipped: ${skipped.join(', ')}.`;
    report(
      { file, cases: cases.length, skipped },
      `Imported ${formatCount(cases.length, 'case')} to ${file}.${note} Run: citeloop eval ${file}`,
    );
    return;
  }
  const folder = resolve(path);
  const collection = flags.collection ?? toCollectionName(folder);
  const cases = takeEvenly(await readBeirCases(folder), limit);
  await withApp(
    {
      flags: { ...flags, collection },
      whenInterrupted: 'Run the same command again to continue; indexed documents are kept.',
    },
    async (app, { signal }) => {
      const corpus = join(folder, 'corpus.jsonl');
      const rows = parseCorpus(await readInputFile(corpus, 'File'), corpus);
      const documents = rows.filter(({ text }) => text.trim() !== '');
      const summary =
        documents.length === 0 ? null : await ingestCorpus(app, collection, corpus, documents, signal);
      await writeOutputFile(file, formatCases(cases, file));
      const failed = summary?.failed ?? [];
      const failures = failed.length === 0 ? '' : ` (${failed.length} failed)`;
      const indexed =
        summary === null
          ? ''
          : ` and indexed ${formatCount(documents.length, 'document')} in the collection ${collection}${failures}`;
      report(
        { file, cases: cases.length, collection, documents: documents.length, failed },
        `Imported ${formatCount(cases.length, 'case')} to ${file}${indexed}. Run: citeloop eval ${file} --collection ${collection}`,
      );
    },
  );
}

async function readBeirCases(folder: string): Promise<EvaluationCase[]> {
  const qrels = QRELS_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (qrels === undefined) {
    throw new AppError(
      'invalid_input',
      `${folder} is not a BEIR folder: qrels.tsv or qrels/test.tsv is missing.`,
      {
        hint: 'Pass a folder with corpus.jsonl, queries.jsonl and qrels.',
      },
    );
  }
  const queries = join(folder, 'queries.jsonl');
  const relevant = parseQrels(await readInputFile(qrels, 'File'), qrels);
  return parseQueries(await readInputFile(queries, 'File'), queries, relevant);
}

async function ingestCorpus(
  app: App,
  collection: string,
  corpus: string,
  documents: readonly CorpusDocument[],
  signal: AbortSignal,
): Promise<IngestSummary> {
  const bar = createIndexingBar('Indexing the corpus');
  const { source, titles } = toDocumentSource(corpus, documents);
  try {
    return await indexSources(app, collection, [source], {
      titleOf: (uri) => titles.get(uri) ?? null,
      // A row exists as long as its corpus file does.
      stillExists: async (uri) => existsSync(new URL(uri.slice(0, uri.lastIndexOf('/')))),
      prune: true,
      signal,
      onProgress: bar.update,
    });
  } finally {
    bar.clear();
  }
}

/** The rows of a corpus as documents, each with a URI below that of the corpus file. */
function toDocumentSource(corpus: string, documents: readonly CorpusDocument[]) {
  const root = `${pathToFileURL(corpus).href}/`;
  const titles = new Map<string, string>();
  const entries = documents.map(({ _id, title, text }): SourceEntry => {
    const relativePath = toCorpusFileName(_id);
    const uri = root + relativePath;
    if (title) titles.set(uri, title);
    const read = async () => ({ uri, mediaType: 'text' as const, bytes: new TextEncoder().encode(text) });
    return { uri, root, relativePath, read };
  });
  const source: DocumentSource = {
    total: documents.length,
    async *entries() {
      yield* entries;
    },
    covers: (document) => document.uri.startsWith(root),
  };
  return { source, titles };
}

/** At most `limit` cases, spread evenly over the list. */
function takeEvenly(cases: EvaluationCase[], limit = cases.length): EvaluationCase[] {
  if (limit >= cases.length) return cases;
  return Array.from(
    { length: limit },
    (_, index) => cases[Math.floor((index * cases.length) / limit)] as EvaluationCase,
  );
}

function toCollectionName(folder: string): string {
  const name = basename(folder)
    .replace(/[^\w.-]+/g, '_')
    .replace(/^[^\w]+/, '');
  return name.slice(0, 128) || 'imported';
}
