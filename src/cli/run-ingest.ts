import { fileURLToPath } from 'node:url';
import { AppError } from '../domain/app-error.ts';
import { EXIT_DONE } from '../domain/exit-code.ts';
import type { IngestSummary } from '../ingest/ingest.ts';
import { version } from '../version.ts';
import type { App } from '../wire.ts';
import { indexDocuments } from './index-documents.ts';
import type { IngestFlags } from './ingest.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import type { TapeRun } from './tape/tape-run.ts';
import { createTerminal, type Terminal } from './terminal.ts';
import { withApp } from './with-app.ts';

/** Some documents could not be read: the rest is done. */
const EXIT_SOME_FAILED = 2;

export function runIngest(flags: IngestFlags): Promise<number> {
  refuseWebOnTape(flags);
  // Here --base-url is where the documents are published, not where the model is.
  return withApp(
    { ...flags, ...{ baseUrl: undefined } },
    async (app, signal, tape) => {
      const { collection } = app.config.agent;
      const { summary, seconds } = await ingestDocuments(app, flags, signal, tape);
      if (flags.json) process.stdout.write(`${JSON.stringify({ collection, ...summary, seconds })}\n`);
      else render(createTerminal(process.stdout), collection, summary, seconds);
      return summary.failed.length > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
    },
    'What was done so far is kept; the same command goes on from there.',
    { command: 'ingest', inputs: { flags: recordedFlags(flags) }, writes: true },
  );
}

/** Brings the collection up to date; a tape notes what came of it. */
export async function ingestDocuments(
  app: App,
  flags: IngestFlags,
  signal: AbortSignal,
  tape: TapeRun | null,
): Promise<{ summary: IngestSummary; seconds: number }> {
  const { collection } = app.config.agent;
  const started = app.runtime.elapsedMs();
  const onNotice = (notice: string) => void process.stderr.write(`${notice}\n`);
  const isNew = tape === null || !(await app.catalog.list()).includes(collection);
  const summary = await indexDocuments(app, collection, flags.source ?? [], {
    label: 'Indexing',
    baseUrl: checkedBaseUrl(flags.baseUrl),
    module: flags.module,
    prune: flags.prune ?? false,
    signal,
    sources: {
      files: { cwd: process.cwd(), onNotice },
      web: {
        userAgent: `citeloop/${version}`,
        allowPrivate: flags.allowPrivate ?? false,
        follow: flags.follow ?? true,
        ...atLeastOne('maxPages', flags.maxPages),
        ...atLeastOne('maxDepth', flags.maxDepth),
        ...atLeastOne('maxSeconds', flags.maxSeconds),
        onNotice,
      },
    },
  });
  if (tape !== null) tape.outputs.ingest = { ...summary, intoNew: isNew };
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
  const chunks =
    summary.chunks === 0 ? '' : `; ${summary.chunks} chunks, ${summary.embeddedChunks} of them embedded`;
  terminal.write(
    `${terminal.text(collection, 'bold')}: ${counts.join(', ') || 'nothing to do'}${chunks} ` +
      `${terminal.text(`(${seconds.toFixed(1)} s)`, 'dim')}\n`,
  );
}

/** Pages are fetched past `fetch`, by rules of their own: they are on no tape. */
function refuseWebOnTape({ record, replay, source = [] }: IngestFlags): void {
  if ((record ?? replay) === undefined || !source.some((each) => /^https?:/i.test(each))) return;
  throw new AppError('invalid_input', 'Pages of the web cannot be recorded on a tape.', {
    hint: 'Save the documents and ingest the files; what embedders and stores are asked is recorded then.',
  });
}

function checkedBaseUrl(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined || /^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) return baseUrl;
  throw new AppError('invalid_input', `"${baseUrl}" (flag --base-url) is not an http or https URL.`);
}

function atLeastOne<Name extends string>(name: Name, value: number | undefined): { [key in Name]?: number } {
  if (value === undefined) return {};
  if (Number.isInteger(value) && value >= 1) return { [name]: value } as { [key in Name]: number };
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new AppError('invalid_input', `--${flag} must be a whole number, at least 1.`);
}
