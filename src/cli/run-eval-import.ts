import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createDocumentParser } from '../adapters/documents/parse-document.ts';
import { AppError } from '../domain/app-error.ts';
import type { EvaluationCase } from '../evaluation/cases/evaluation-case.ts';
import {
  type CorpusDocument,
  corpusFileName,
  readCorpus,
  readQrels,
  readQueries,
} from '../evaluation/cases/import-beir.ts';
import { writeCases } from '../evaluation/cases/write-cases.ts';
import { type IngestSummary, ingest } from '../ingest/ingest.ts';
import type { DocumentSource, SourceEntry } from '../ports/loader.ts';
import type { App } from '../wire.ts';
import { readNamedFile } from './eval/read-json-file.ts';
import { refuseExisting } from './eval/refuse-existing.ts';
import { writeNamedFile } from './eval/write-outputs.ts';
import type { EvalImportFlags } from './eval.ts';
import { createProgressBar } from './progress-bar.ts';
import { createTerminal } from './terminal.ts';
import { withApp } from './with-app.ts';

const QRELS = ['qrels.tsv', 'qrels/test.tsv', 'qrels/dev.tsv', 'qrels/train.tsv'];

export async function runEvalImport({ json, ...flags }: EvalImportFlags): Promise<void> {
  const folder = resolve(flags.folder ?? '');
  const collection = flags.collection ?? collectionName(folder);
  const file = flags.output ?? 'cases.jsonl';
  refuseExisting(file, flags.force);
  const cases = evenly(await casesOf(folder), flags.limit);
  await withApp(
    { ...flags, collection },
    async (app, signal) => {
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
        summary === null ? '' : ` and ${documents.length} documents in the collection ${collection}${failed}`;
      terminal.write(
        terminal.text(
          `${cases.length} cases in ${file}${indexed}. Next: citeloop eval ${file} --collection ${collection}\n`,
        ),
      );
    },
    'Run the same command again to go on; what was indexed is kept.',
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
  const store = await app.catalog.openOrCreate(collection, await app.identity());
  const bar = createProgressBar('Indexing the corpus');
  const { source, titles } = corpusSource(folder, documents);
  const parse = createDocumentParser();
  try {
    return await ingest(
      [source],
      {
        store,
        // The title stands beside the text, not in it.
        parse: async (raw) => ({ ...(await parse(raw)), title: titles.get(raw.uri) ?? null }),
        embedder: () => app.embedder({ bulk: true }),
        stillExists: async () => true,
      },
      {
        prune: true,
        signal,
        onProgress: ({ documents: done, embeddedChunks }) =>
          bar.update({ done, total: documents.length, note: `${embeddedChunks} chunks` }),
      },
    );
  } finally {
    bar.clear();
    await store.close();
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
  if (!Number.isInteger(limit) || limit < 1) {
    throw new AppError('invalid_input', '--limit must be a whole number, at least 1.');
  }
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
