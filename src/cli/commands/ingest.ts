import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { indexDocuments } from '../../app/index-documents.ts';
import { countStale } from '../../app/sessions.ts';
import { address, readFlag, wholeNumber } from '../../config/read-value.ts';
import { OWN_MODEL } from '../../domain/choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_DONE } from '../../faults/exit-code.ts';
import type { IngestSummary } from '../../ingest/ingest.ts';
import { version } from '../../package.ts';
import type { Run } from '../../tape/tape-run.ts';
import { counted } from '../../text/phrasing.ts';
import { oneLine } from '../../text/visible-text.ts';
import { onCommandLine } from '../advice.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { createIndexingBar } from '../terminal/progress.ts';
import { createTerminal, type Terminal } from '../terminal/terminal.ts';
import { renderText } from '../terminal/wrapping.ts';
import { changesOf } from './watch-sources.ts';
import { withApp } from './with-app.ts';

/** Some documents could not be read: the rest is done. */
const EXIT_SOME_FAILED = 2;

/** What takes some seconds to embed. */
const MANY_CHUNKS = 256;

/** How many are named of the documents that are gone, and of the places that documents are from. */
const MOST_NAMED = 3;

/** What an ingest is asked for, as flags and tapes say it. */
export const ingestSchema = z.object({
  source: z.array(z.string()).optional(),
  baseUrl: z.string().optional(),
  module: z.string().optional(),
  prune: z.boolean().optional(),
  include: z.array(z.string()).optional(),
  exclude: z.array(z.string()).optional(),
  follow: z.boolean().optional(),
  allowPrivate: z.boolean().optional(),
  maxPages: z.number().optional(),
  maxDepth: z.number().optional(),
  maxSeconds: z.number().optional(),
});

export interface IngestFlags extends CommonFlags, TapeFlags, z.infer<typeof ingestSchema> {
  /** What follows `--`: a path may begin with a dash. */
  '--'?: string[] | undefined;
  /** Goes on with every change, until Ctrl-C. */
  watch?: boolean | undefined;
}

export function runIngest(flags: IngestFlags): Promise<number> {
  refuseNothing(flags);
  refuseWebOnTape(flags);
  refuseWatch(flags);
  // Here --base-url says where the documents are published: it is not the setting of that name.
  const { baseUrl: _publishedAt, ...settings } = flags;
  return withApp(
    {
      flags: settings,
      whenInterrupted: 'What was done so far is kept; the same command goes on from there.',
      taped: { command: 'ingest', flags, writes: true },
    },
    async (app, run) => {
      const { collection } = app.config.agent;
      const show = ({ summary, seconds }: IngestDone) => {
        if (flags.json) process.stdout.write(`${JSON.stringify({ collection, ...summary, seconds })}\n`);
        else render(createTerminal(process.stdout), collection, summary, seconds);
        // Whoever names the collection means it.
        if (flags.collection === undefined && !flags.json) tellMixed(collection, summary);
      };
      const first = await ingestDocuments(app, flags, run);
      show(first);
      if (first.summary.embeddedChunks > 0) await adviseThreshold(app);
      if (flags.watch) await followChanges(app, flags, run, first, show);
      return first.summary.failed.length > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
    },
  );
}

/** A model of one's own has no threshold before it was fitted, and then everything that is found counts as relevant. */
async function adviseThreshold(app: App): Promise<void> {
  const { directory } = app.config.embedding;
  if (directory === undefined || (await app.embedder()).scoreThreshold > 0) return;
  const { collection } = app.config.agent;
  process.stderr.write(
    'It is not known yet which scores of this model count as relevant. Find out with: ' +
      `citeloop collections threshold ${collection} --embedder ${OWN_MODEL}${directory} --save\n`,
  );
}

/** Ingests again whenever something has changed, and says which earlier answers that concerns. Ends with Ctrl-C. */
async function followChanges(
  app: App,
  flags: IngestFlags,
  run: Run,
  first: IngestDone,
  show: (done: IngestDone) => void,
): Promise<void> {
  const say = (sentence: string) => renderText(createTerminal(process.stderr), sentence);
  const changes = changesOf(flags.source ?? [], run.signal);
  say('Watching for changes until Ctrl-C.');
  let { gone } = first.summary;
  for await (const _ of changes) {
    try {
      const done = await ingestDocuments(app, flags, run);
      const { added, changed, renamed, removed, failed } = done.summary;
      const isNews = done.summary.gone.join('\n') !== gone.join('\n');
      gone = done.summary.gone;
      if (added + changed + renamed + removed + failed.length === 0 && !isNews) continue;
      show(done);
      const count = await staleInSessions(app);
      if (count > 0)
        say(
          `${counted(count, 'earlier answer rests', 'earlier answers rest')} on what has changed: citeloop sessions stale`,
        );
    } catch (error) {
      if (run.signal.aborted) return;
      if (!(error instanceof AppError)) throw error;
      say(`${error.message} It goes on with the next change.`);
    }
  }
}

async function staleInSessions(app: App): Promise<number> {
  const sessions = await app.sessions();
  try {
    const { collection } = app.config.agent;
    return await countStale(app, sessions, { limit: 50, collection });
  } finally {
    await sessions.close();
  }
}

function refuseWatch({ watch, record, replay, source = [] }: IngestFlags): void {
  if (!watch) return;
  const refusal =
    (record ?? replay) !== undefined
      ? 'A run that watches cannot be on a tape.'
      : source.some((each) => /^https?:/i.test(each))
        ? 'Only files can be watched, not the web.'
        : null;
  if (refusal !== null) throw new AppError('invalid_input', refusal, { hint: 'Leave out --watch.' });
}

interface IngestDone {
  summary: IngestSummary;
  seconds: number;
}

/** Brings the collection up to date; a tape notes what came of it. */
export async function ingestDocuments(
  app: App,
  inputs: z.infer<typeof ingestSchema>,
  { signal, tape }: Run,
): Promise<IngestDone> {
  const { collection } = app.config.agent;
  const started = app.runtime.elapsedMs();
  const onNotice = (notice: string) => void process.stderr.write(`${notice}\n`);
  const isNew = tape === null || !(await app.catalog.list()).includes(collection);
  const bar = createIndexingBar('Indexing words');
  let told = false;
  const summary = await indexDocuments(app, collection, inputs.source ?? [], {
    onProgress(progress) {
      // Whoever has much to embed should know that there is no need to wait for it.
      if (!told && (progress.embedding?.totalChunks ?? 0) >= MANY_CHUNKS) {
        told = true;
        bar.clear();
        onNotice(
          `${collection} can be searched by its words now; ${progress.embedding?.totalChunks} chunks are being ` +
            'embedded so that it is found by meaning too.',
        );
      }
      bar.update(progress);
    },
    baseUrl: readFlag('--base-url', inputs.baseUrl, address),
    module: inputs.module,
    prune: inputs.prune ?? false,
    signal,
    wordAdvice: onCommandLine,
    sources: {
      files: { cwd: process.cwd(), onNotice, include: inputs.include, exclude: inputs.exclude },
      web: {
        userAgent: `citeloop/${version}`,
        allowPrivate: inputs.allowPrivate ?? false,
        follow: inputs.follow ?? true,
        maxPages: readFlag('--max-pages', inputs.maxPages, wholeNumber(1)),
        maxDepth: readFlag('--max-depth', inputs.maxDepth, wholeNumber(1)),
        maxSeconds: readFlag('--max-seconds', inputs.maxSeconds, wholeNumber(1)),
        onNotice: (notice) => onNotice(onCommandLine(notice)),
        runtime: app.runtime,
      },
    },
  }).finally(bar.clear);
  if (tape !== null) {
    // What is gone, and what lies beside it, is a matter of the machine, not of the run.
    const { gone: _, mixed: __, ...noted } = summary;
    tape.outputs.ingest = { ...noted, intoNew: isNew };
  }
  return { summary, seconds: (app.runtime.elapsedMs() - started) / 1000 };
}

function render(terminal: Terminal, collection: string, summary: IngestSummary, seconds: number): void {
  for (const { uri, message, hint } of summary.failed) {
    const place = uri.startsWith('file:') ? fileURLToPath(uri) : uri;
    // Most sentences name the place themselves.
    const fault = message.includes(place) ? message : `${place}: ${message}`;
    terminal.write(`${terminal.text('failed', 'red')} ${terminal.text(fault)}\n`);
    if (hint !== null) terminal.write(`       ${terminal.text(hint, 'dim')}\n`);
  }
  const counts = (['added', 'changed', 'renamed', 'unchanged', 'removed'] as const)
    .filter((kind) => summary[kind] > 0)
    .map((kind) => `${summary[kind]} ${kind}`);
  if (summary.failed.length > 0) counts.push(`${summary.failed.length} failed`);
  const { chunks: written, embeddedChunks: embedded } = summary;
  const chunks = written + embedded === 0 ? '' : `; ${written} chunks written, ${embedded} embedded`;
  terminal.write(
    `${terminal.text(collection, 'bold')}: ${counts.join(', ') || 'nothing to do'}${chunks} ` +
      `${terminal.text(`(${seconds.toFixed(1)} s)`, 'dim')}\n`,
  );
  const { gone } = summary;
  if (gone.length === 0) return;
  renderText(
    terminal,
    `${gone.length} gone: ${named(gone)}; --prune forgets ${gone.length === 1 ? 'it' : 'them'}`,
  );
}

/** Two projects in one collection answer each other's questions: it is said when they come together. */
function tellMixed(collection: string, { mixed }: IngestSummary): void {
  if (mixed.length === 0) return;
  const places = mixed.map((place) => (place.startsWith('file:') ? fileURLToPath(place) : place));
  renderText(
    createTerminal(process.stderr),
    `${collection} now holds documents of ${mixed.length} places: ${named(places)}. ` +
      'Questions search them all; --collection <name> keeps them apart.',
  );
}

function named(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names
    .slice(0, MOST_NAMED)
    .map((name) => oneLine(name, 100))
    .join(', ')}${more}`;
}

function refuseNothing({ source = [] }: IngestFlags): void {
  if (source.length > 0) return;
  throw new AppError('invalid_input', 'It is not said what to ingest.', {
    hint: 'Name a path, a glob or a URL, for example: citeloop ingest ./docs',
  });
}

/** Pages are fetched past `fetch`, by rules of their own: they are on no tape. */
function refuseWebOnTape({ record, replay, source = [] }: IngestFlags): void {
  if ((record ?? replay) === undefined || !source.some((each) => /^https?:/i.test(each))) return;
  throw new AppError('invalid_input', 'Pages of the web cannot be recorded on a tape.', {
    hint: 'Save the documents and ingest the files; what embedders and stores are asked is recorded then.',
  });
}
