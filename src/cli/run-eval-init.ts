import { AppError } from '../domain/app-error.ts';
import { chunkId } from '../domain/chunk-id.ts';
import { type DraftChunk, draftCases } from '../evaluation/cases/draft-cases.ts';
import { draftFromSession } from '../evaluation/cases/draft-from-sessions.ts';
import type { EvaluationCase } from '../evaluation/cases/evaluation-case.ts';
import { writeCases } from '../evaluation/cases/write-cases.ts';
import type { ChunkStore } from '../ports/chunk-store.ts';
import { type App, sessionsPath } from '../wire.ts';
import { refuseExisting } from './eval/refuse-existing.ts';
import { writeNamedFile } from './eval/write-outputs.ts';
import type { EvalInitFlags } from './eval.ts';
import { openCollection } from './open-collection.ts';
import { createTerminal } from './terminal.ts';
import { withApp } from './with-app.ts';

const DEFAULT_COUNT = 40;
const DEFAULT_FILE = 'cases.yaml';
const CHUNKS_AT_A_TIME = 64;

export async function runEvalInit({ json, ...flags }: EvalInitFlags): Promise<void> {
  const file = flags.output ?? DEFAULT_FILE;
  const count = flags.count ?? DEFAULT_COUNT;
  if (!Number.isInteger(count) || count < 1) {
    throw new AppError('invalid_input', '--count must be a whole number, at least 1.');
  }
  refuseExisting(file, flags.force);
  await withApp(flags, async (app, signal) => {
    const cases =
      flags.from === 'sessions'
        ? await fromSessions(app, flags.user, count)
        : await fromCollection(app, count, flags.seed ?? 1, signal);
    await writeNamedFile(file, writeCases(cases, file));
    const terminal = createTerminal(process.stdout);
    if (json !== undefined) {
      terminal.write(`${JSON.stringify({ file, cases: cases.length })}\n`);
      return;
    }
    const chosen = app.config.collectionChosen ? ` --collection ${app.config.agent.collection}` : '';
    terminal.write(
      terminal.text(
        `Drafted ${cases.length} cases in ${file}. Read them, correct what is wrong, then: citeloop eval ${file}${chosen}\n`,
      ),
    );
  });
}

async function fromCollection(
  app: App,
  count: number,
  seed: number,
  signal: AbortSignal,
): Promise<EvaluationCase[]> {
  const store = await openCollection(app, signal);
  try {
    const cases = draftCases(await allChunks(store), count, seed);
    if (cases.length > 0) return cases;
    throw new AppError('invalid_input', `Nothing in "${store.name}" makes a question.`, {
      hint: 'Ingest documents with headings and sentences, or write cases by hand; docs/evaluation.md shows how.',
    });
  } finally {
    await store.close();
  }
}

/** The ids of chunks follow from the document's address and their place in it. */
async function allChunks(store: ChunkStore): Promise<DraftChunk[]> {
  const chunks: DraftChunk[] = [];
  for await (const { url } of store.documents()) {
    for (let first = 0; ; first += CHUNKS_AT_A_TIME) {
      const ids = Array.from({ length: CHUNKS_AT_A_TIME }, (_, index) => chunkId(url, first + index));
      const found = await store.chunks(ids);
      chunks.push(...found);
      if (found.length < CHUNKS_AT_A_TIME) break;
    }
  }
  return chunks;
}

async function fromSessions(app: App, user: string | undefined, count: number): Promise<EvaluationCase[]> {
  const { createSqliteSessionStore } = await import('../adapters/sqlite/sessions/sqlite-session-store.ts');
  const sessions = createSqliteSessionStore(sessionsPath(app.config));
  const { collection } = app.config.agent;
  try {
    const cases: EvaluationCase[] = [];
    for (const { sessionId, collection: ofSession } of await sessions.list({ user })) {
      if (app.config.collectionChosen && ofSession !== collection) continue;
      const found = await sessions.load(sessionId);
      if (found === null) continue;
      const turns = await Array.fromAsync(sessions.turns(sessionId));
      cases.push(...draftFromSession(found.session, turns));
      if (cases.length >= count) break;
    }
    if (cases.length > 0) return cases.slice(0, count);
    throw new AppError('invalid_input', 'There are no sessions to draft from.', {
      hint: 'Have a conversation with citeloop chat and judge its answers with: citeloop sessions feedback last good',
    });
  } finally {
    await sessions.close();
  }
}
