import type { App } from '../../app/create-app.ts';
import { openCollection } from '../../app/open-collection.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import { draftLabels } from '../../evaluation/calibration/draft-labels.ts';
import { type Label, writeLabels } from '../../evaluation/calibration/label.ts';
import { type DraftChunk, draftCases, draftFromSession } from '../../evaluation/cases/draft-cases.ts';
import type { EvaluationCase } from '../../evaluation/cases/evaluation-case.ts';
import { writeCases } from '../../evaluation/cases/read-cases.ts';
import { AppError } from '../../faults/app-error.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { RecordedTurn } from '../../ports/session-store.ts';
import { counted } from '../../text/phrasing.ts';
import { withApp } from '../commands/with-app.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { refuseExisting, writeNamedFile } from './evaluation-files.ts';

export interface EvalInitFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: what was done as JSON. */
  json?: string | undefined;
  from?: 'collection' | 'sessions' | 'feedback' | undefined;
  count?: number | undefined;
  output?: string | undefined;
  seed?: number | undefined;
  user?: string | undefined;
  force?: boolean | undefined;
}

const DEFAULT_COUNT = 40;
const DEFAULT_FILE = 'cases.yaml';
const LABELS_FILE = 'labels.jsonl';
const DOCUMENTS_AT_A_TIME = 32;

export async function runEvalInit({ json, ...flags }: EvalInitFlags): Promise<void> {
  const ofLabels = flags.from === 'feedback';
  const file = flags.output ?? (ofLabels ? LABELS_FILE : DEFAULT_FILE);
  const count = readFlag('--count', flags.count, wholeNumber(1)) ?? DEFAULT_COUNT;
  const seed = readFlag('--seed', flags.seed, wholeNumber(0)) ?? 1;
  refuseExisting(file, flags.force);
  await withApp({ flags }, async (app, { signal }) => {
    const terminal = createTerminal(process.stdout);
    if (ofLabels) {
      const labels = await fromFeedback(app, flags.user, flags.count === undefined ? undefined : count);
      await writeNamedFile(file, writeLabels(labels));
      const told = `Drafted ${counted(labels.length, 'label')} in ${file}. Read them, correct what is wrong, then: citeloop eval calibrate ${file}`;
      terminal.write(
        json === undefined
          ? terminal.text(`${told}\n`)
          : `${JSON.stringify({ file, labels: labels.length })}\n`,
      );
      return;
    }
    const cases =
      flags.from === 'sessions'
        ? await fromSessions(app, flags.user, count)
        : await fromCollection(app, count, seed, signal);
    await writeNamedFile(file, writeCases(cases, file));
    if (json !== undefined) {
      terminal.write(`${JSON.stringify({ file, cases: cases.length })}\n`);
      return;
    }
    const chosen = app.config.collectionChosen ? ` --collection ${app.config.agent.collection}` : '';
    terminal.write(
      terminal.text(
        `Drafted ${counted(cases.length, 'case')} in ${file}. Read them, correct what is wrong, then: citeloop eval ${file}${chosen}\n`,
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

/** Every chunk of a collection, document by document. */
export async function allChunks(store: ChunkStore): Promise<DraftChunk[]> {
  const found: DraftChunk[] = [];
  const uris = await Array.fromAsync(store.documents(), ({ uri }) => uri);
  for (let first = 0; first < uris.length; first += DOCUMENTS_AT_A_TIME) {
    for (const { document, chunks } of await store.read(uris.slice(first, first + DOCUMENTS_AT_A_TIME))) {
      const { url, title } = document;
      found.push(...chunks.map(({ text, headings }) => ({ text, headings, url, title })));
    }
  }
  return found;
}

async function fromSessions(app: App, user: string | undefined, count: number): Promise<EvaluationCase[]> {
  const cases = await draftFromAll(app, { user, count }, draftFromSession);
  if (cases.length > 0) return cases;
  throw new AppError('invalid_input', 'There are no sessions to draft from.', {
    hint: 'Have a conversation with citeloop chat and judge its answers with: citeloop sessions feedback last good',
  });
}

/** All that was judged, unless fewer are asked for: people judge seldom. */
async function fromFeedback(
  app: App,
  user: string | undefined,
  count = Number.POSITIVE_INFINITY,
): Promise<Label[]> {
  const labels = await draftFromAll(app, { user, count }, ({ sessionId }, turns, phrases) =>
    draftLabels(sessionId, turns, phrases),
  );
  if (labels.length > 0) return labels;
  throw new AppError('invalid_input', 'No answer that rests on documents has been judged yet.', {
    hint: 'Judge answers with: citeloop sessions feedback last good',
  });
}

/** What the sessions come to, newest first, until there is enough. */
async function draftFromAll<Draft>(
  app: App,
  { user, count }: { user: string | undefined; count: number },
  draft: (
    session: ConversationSession,
    turns: readonly RecordedTurn[],
    abstentionPhrases: readonly string[],
  ) => Draft[],
): Promise<Draft[]> {
  const sessions = await app.sessions();
  const { collection, abstentionPhrases } = app.config.agent;
  try {
    const drafts: Draft[] = [];
    for (const { sessionId, collection: ofSession } of await sessions.list({ user })) {
      if (app.config.collectionChosen && ofSession !== collection) continue;
      const found = await sessions.load(sessionId);
      if (found === null) continue;
      const turns = await Array.fromAsync(sessions.turns(sessionId));
      drafts.push(...draft(found.session, turns, abstentionPhrases));
      if (drafts.length >= count) break;
    }
    return drafts.slice(0, count);
  } finally {
    await sessions.close();
  }
}
