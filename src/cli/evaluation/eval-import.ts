import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { App } from '../../app/create-app.ts';
import { indexSources } from '../../app/index-documents.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import {
  type CorpusDocument,
  corpusFileName,
  readCorpus,
  readQrels,
  readQueries,
} from '../../evaluation/cases/import-beir.ts';
import { importFile } from '../../evaluation/cases/import-tables.ts';
import { writeCases } from '../../evaluation/cases/read-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import type { IngestSummary } from '../../ingest/ingest.ts';
import type { DocumentSource, SourceEntry } from '../../ports/loader.ts';
import { counted } from '../../text/phrasing.ts';
import { withApp } from '../commands/with-app.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createIndexingBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { readNamedFile, refuseExisting, writeNamedFile } from './evaluation-files.ts';

export interface EvalImportFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: what was done as JSON. */
  json?: string | undefined;
  folder?: string | undefined;
  output?: string | undefined;
  limit?: number | undefined;
  ingest?: boolean | undefined;
  force?: boolean | undefined;
}

const QRELS = ['qrels.tsv', 'qrels/test.tsv', 'qrels/dev.tsv', 'qrels/train.tsv'];

export async function runEvalImport({ json, ...flags }: EvalImportFlags): Promise<void> {
  if (statSync(flags.folder ?? '', { throwIfNoEntry: false })?.isFile()) {
    return importQuestions(flags.folder ?? '', flags, json);
  }
  const folder = resolve(flags.folder ?? '');
  const collection = flags.collection ?? collectionName(folder);
  const file = flags.output ?? 'cases.jsonl';
  const limit = readFlag('--limit', flags.limit, wholeNumber(1));
  refuseExisting(file, flags.force);
  const cases = evenly(await casesOf(folder), limit);
  await withApp(
    {
      flags: { ...flags, collection },
      whenInterrupted: 'Run the same command again to go on; what was indexed is kept.',
    },
    async (app, { signal }) => {
      const documents = flags.ingest === false ? [] : await corpusOf(folder);
      const summary =
        documents.length === 0 ? null : await ingestCorpus(app, collection, folder, documents, signal);
      await writeNamedFile(file, writeCases(cases, file));
      const terminal = createTerminal(process.stdout);
      if (json !== undefined) {
        const told = {
          file,
          cases: cases.length,
          collection,
          documents: documents.length,
          failed: summary?.failed ?? [],
        };
        terminal.write(`${JSON.stringify(told)}\n`);
        return;
      }
      const failed =
        summary === null || summary.failed.length === 0
          ? ''
          : ` (${summary.failed.length} could not be read)`;
      const indexed =
        summary === null
          ? ''
          : ` and ${counted(documents.length, 'document')} in the collection ${collection}${failed}`;
      terminal.write(
        terminal.text(
          `${counted(cases.length, 'case')} in ${file}${indexed}. Next: citeloop eval ${file} --collection ${collection}\n`,
        ),
      );
    },
  );
}

/** A file of questions alone; whatever they are about is yours to ingest. */
async function importQuestions(
  path: string,
  flags: Omit<EvalImportFlags, 'json'>,
  json: string | undefined,
): Promise<void> {
  const file = flags.output ?? 'cases.jsonl';
  refuseExisting(file, flags.force);
  const limit = readFlag('--limit', flags.limit, wholeNumber(1));
  const found = importFile(await readNamedFile(path, 'The file'), path);
  const cases = evenly(found.cases, limit);
  await writeNamedFile(file, writeCases(cases, file));
  const terminal = createTerminal(process.stdout);
  if (json !== undefined) {
    terminal.write(`${JSON.stringify({ file, cases: cases.length, left: found.left })}\n`);
    return;
  }
  const left = found.left.length === 0 ? '' : ` Not carried over: ${found.left.join(', ')}.`;
  terminal.write(
    terminal.text(`${counted(cases.length, 'case')} in ${file}.${left} Next: citeloop eval ${file}\n`),
  );
}

async function casesOf(folder: string): Promise<EvaluationCase[]> {
  const qrels = QRELS.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (qrels === undefined) {
    throw new AppError(
      'invalid_input',
      `${folder} is no BEIR folder: it has no ${QRELS[0]} and no qrels/test.tsv.`,
      {
        hint: 'Name a folder with corpus.jsonl, queries.jsonl and qrels.',
      },
    );
  }
  const queries = join(folder, 'queries.jsonl');
  const relevant = readQrels(await readNamedFile(qrels, 'The file'), qrels);
  return readQueries(await readNamedFile(queries, 'The file'), queries, relevant);
}

async function corpusOf(folder: string): Promise<CorpusDocument[]> {
  const path = join(folder, 'corpus.jsonl');
  const documents = readCorpus(await readNamedFile(path, 'The file'), path);
  // A passage of white space cannot be found, and nothing can be cited of it.
  return documents.filter(({ text }) => text.trim() !== '');
}

async function ingestCorpus(
  app: App,
  collection: string,
  folder: string,
  documents: readonly CorpusDocument[],
  signal: AbortSignal,
): Promise<IngestSummary> {
  const bar = createIndexingBar('Indexing the corpus');
  const { source, titles } = corpusSource(folder, documents);
  try {
    return await indexSources(app, collection, [source], {
      titleOf: (uri) => titles.get(uri) ?? null,
      // The rows of a corpus are there as long as its file is.
      stillExists: async (uri) => existsSync(new URL(uri.slice(0, uri.lastIndexOf('/')))),
      prune: true,
      signal,
      onProgress: bar.update,
    });
  } finally {
    bar.clear();
  }
}

/** The rows of a corpus as documents, as if each were a file below it. */
function corpusSource(folder: string, documents: readonly CorpusDocument[]) {
  const root = `${pathToFileURL(join(folder, 'corpus.jsonl')).href}/`;
  const titles = new Map<string, string>();
  const entries = documents.map(({ id, title, text }): SourceEntry => {
    const relativePath = corpusFileName(id);
    const uri = root + relativePath;
    if (title !== '') titles.set(uri, title);
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

/** So many cases from the whole of the list, always the same ones. */
function evenly(cases: EvaluationCase[], limit: number | undefined): EvaluationCase[] {
  if (limit === undefined || limit >= cases.length) return cases;
  return Array.from(
    { length: limit },
    (_, index) => cases[Math.floor((index * cases.length) / limit)] as EvaluationCase,
  );
}

function collectionName(folder: string): string {
  return (
    basename(folder)
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[^\w]+/, '')
      .slice(0, 128) || 'imported'
  );
}
