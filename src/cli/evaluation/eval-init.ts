import type { App } from '../../app/create-app.ts';
import { openCollection } from '../../app/open-collection.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import {
  type DraftChunk,
  draftCasesFromChunks,
  draftCasesFromSession,
} from '../../evaluation/cases/draft-cases.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { formatCases } from '../../evaluation/cases/parse-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import { formatCount } from '../../text/format-count.ts';
import { withApp } from '../commands/with-app.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { assertNotExisting, type JsonCommandFlags, writeOutputFile } from './evaluation-files.ts';
import { openModelPrompt } from './open-arms.ts';

export interface EvalInitFlags extends JsonCommandFlags {
  from?: 'collection' | 'sessions' | undefined;
  count?: number | undefined;
  output?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  force?: boolean | undefined;
}

const DEFAULT_COUNT = 40;
const DEFAULT_FILE = 'cases.yaml';
/** Fixed, so that drafts of the same collection are the same. */
const DRAFT_SEED = 1;
const DOCUMENTS_PER_READ = 32;

/** Drafts cases from a collection, with the configured model where there is one, or from past sessions. */
export async function runEvalInit({ json, ...flags }: EvalInitFlags): Promise<void> {
  const file = flags.output ?? DEFAULT_FILE;
  const count = parseFlag('--count', flags.count, integerSchema(1)) ?? DEFAULT_COUNT;
  assertNotExisting(file, flags.force);
  await withApp({ flags }, async (app, { signal }) => {
    const cases =
      flags.from === 'sessions'
        ? await draftFromSessions(app, count)
        : await draftFromCollection(app, { count, signal });
    await writeOutputFile(file, formatCases(cases, file));
    const terminal = createTerminal(process.stdout);
    if (json !== undefined) {
      terminal.write(`${JSON.stringify({ file, cases: cases.length })}\n`);
      return;
    }
    const collection = app.config.collectionChosen ? ` --collection ${app.config.agent.collection}` : '';
    terminal.write(
      terminal.text(
        `Drafted ${formatCount(cases.length, 'case')} in ${file}. Review and correct them, then run: citeloop eval ${file}${collection}\n`,
      ),
    );
  });
}

async function draftFromCollection(
  app: App,
  { count, signal }: { count: number; signal: AbortSignal },
): Promise<EvaluationCase[]> {
  const store = await openCollection(app, signal);
  const bar = createProgressBar('Drafting questions');
  try {
    const ask = app.config.agent.model === OFFLINE_MODEL ? null : await openModelPrompt(app);
    const onProgress = (done: number) => bar.update({ done, total: count });
    const cases = await draftCasesFromChunks(await readChunks(store), {
      count,
      seed: DRAFT_SEED,
      ask,
      signal,
      onProgress,
    });
    if (cases.length > 0) return cases;
    throw new AppError('invalid_input', `No passage of "${store.name}" yields a question.`, {
      hint: 'Ingest documents with headings and sentences, or write cases by hand: docs/evaluation.md.',
    });
  } finally {
    bar.clear();
    await store.close();
  }
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

/** Newest sessions first, of the chosen collection only where one is chosen. */
async function draftFromSessions(app: App, count: number): Promise<EvaluationCase[]> {
  const sessions = await app.sessions();
  const { collection, abstentionPhrases } = app.config.agent;
  try {
    const drafts: EvaluationCase[] = [];
    for (const { sessionId, collection: used } of await sessions.list({})) {
      if (app.config.collectionChosen && used !== collection) continue;
      const found = await sessions.load(sessionId);
      if (found === null) continue;
      const turns = await Array.fromAsync(sessions.turns(sessionId));
      drafts.push(...draftCasesFromSession(found.session, turns, abstentionPhrases));
      if (drafts.length >= count) break;
    }
    if (drafts.length > 0) return drafts.slice(0, count);
    throw new AppError('invalid_input', 'There are no sessions to draft cases from.', {
      hint: 'Run "citeloop chat", then rate its answers with "citeloop sessions feedback last good".',
    });
  } finally {
    await sessions.close();
  }
}
