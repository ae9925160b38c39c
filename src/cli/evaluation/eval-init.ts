import { openCollection } from '../../app/open-collection.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { type DraftChunk, draftCases } from '../../evaluation/cases/draft-cases.ts';
import { formatCases } from '../../evaluation/cases/parse-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import { formatCount } from '../../text/format-count.ts';
import { withApp } from '../commands/with-app.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrap-text.ts';
import { assertNotExisting, type JsonCommandFlags, writeOutputFile } from './evaluation-files.ts';
import { openModelPrompt } from './open-arms.ts';

export interface EvalInitFlags extends JsonCommandFlags {
  count?: number | undefined;
  output?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  force?: boolean | undefined;
}

const DEFAULT_COUNT = 40;
const DOCUMENTS_PER_READ = 32;

/** Drafts cases from a collection, with the configured model where there is one. */
export async function runEvalInit({
  json,
  output: file = 'cases.yaml',
  ...flags
}: EvalInitFlags): Promise<void> {
  const count = parseFlag('--count', flags.count, integerSchema(1)) ?? DEFAULT_COUNT;
  if (!flags.force) assertNotExisting(file);
  await withApp({ flags }, async (app, { signal }) => {
    const store = await openCollection(app, signal);
    const bar = createProgressBar('Drafting questions');
    try {
      const ask = app.config.agent.model === OFFLINE_MODEL ? null : await openModelPrompt(app);
      const onProgress = (done: number) => bar.update({ done, total: count });
      const { cases, passages } = await draftCases(await readChunks(store), {
        count,
        ask,
        signal,
        onProgress,
      });
      if (cases.length === 0) {
        throw new AppError('invalid_input', `No passage of "${store.name}" yields a question.`, {
          hint: 'Ingest documents with headings and sentences, or write cases by hand: docs/evaluation.md.',
        });
      }
      await writeOutputFile(file, formatCases(cases, file));
      bar.clear();
      const { collectionChosen, agent } = app.config;
      const collection = collectionChosen ? ` --collection ${agent.collection}` : '';
      const countOf = (answerable: boolean | undefined) =>
        cases.filter((item) => item.answerable === answerable).length;
      const sentences = [
        `Drafted ${formatCount(cases.length, 'case')} in ${file}: ${countOf(true)} answerable, ${countOf(false)} unanswerable, ${countOf(undefined)} small talk.`,
        ...(countOf(true) + countOf(false) < count
          ? [
              `Fewer than ${count}: of ${formatCount(passages.read, 'passage')}, ${passages.unused} gave no question and ${passages.repeated} a repeated one.`,
            ]
          : []),
        ...(ask === null
          ? [
              'Without a model, questions come from definitions and headings, and unanswerable ones are off-topic: add --model for questions as people ask them, and for unanswerable ones close to your documents.',
            ]
          : []),
        `Review and correct them, then run: citeloop eval ${file}${collection}`,
      ];
      const terminal = createTerminal(process.stdout);
      if (json === undefined) for (const sentence of sentences) renderText(terminal, sentence);
      else terminal.write(`${JSON.stringify({ file, cases: cases.length, passages })}\n`);
    } finally {
      bar.clear();
      await store.close();
    }
  });
}

async function readChunks(store: ChunkStore): Promise<DraftChunk[]> {
  const found: DraftChunk[] = [];
  const uris = await Array.fromAsync(store.documents(), ({ uri }) => uri);
  for (let first = 0; first < uris.length; first += DOCUMENTS_PER_READ) {
    for (const { document, chunks } of await store.read(uris.slice(first, first + DOCUMENTS_PER_READ))) {
      const { url, title } = document;
      found.push(...chunks.map(({ text, headings }) => ({ text, headings, url, title })));
    }
  }
  return found;
}
