import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { indexDocuments } from '../../app/index-documents.ts';
import { httpUrlSchema, integerSchema, parseFlag } from '../../config/parse-value.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_SUCCESS } from '../../faults/exit-code.ts';
import type { IngestSummary } from '../../ingest/ingest.ts';
import { version } from '../../package.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import { oneLine, visibleText } from '../../text/visible-text.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { formatAdvice } from '../format-advice.ts';
import { createIndexingBar } from '../terminal/progress.ts';
import { createTerminal, printJson, type Terminal } from '../terminal/terminal.ts';
import { renderText, wrapPieces } from '../terminal/wrap-text.ts';
import { withApp } from './with-app.ts';

const EXIT_SOME_FAILED = 2;
/** From this many chunks on, embedding takes some seconds. */
const MANY_CHUNKS = 256;
const MAX_LISTED = 3;

export const ingestSchema = z.object({
  source: z.array(z.string()).optional(),
  baseUrl: z.string().optional(),
  module: z.string().optional(),
  description: z.string().optional(),
  prune: z.boolean().optional(),
  include: z.array(z.string()).optional(),
  exclude: z.array(z.string()).optional(),
  follow: z.boolean().optional(),
  allowPrivate: z.boolean().optional(),
  maxPages: z.number().optional(),
  maxDepth: z.number().optional(),
  maxSeconds: z.number().optional(),
});

export interface IngestFlags extends CommonFlags, TapeFlags, z.infer<typeof ingestSchema> {}

export function runIngest(flags: IngestFlags): Promise<number> {
  assertIngestFlags(flags);
  // Here --base-url is the address of the published documents, not the setting of the model service.
  const { baseUrl: _, ...settings } = flags;
  const run = {
    flags: settings,
    whenInterrupted: 'Ingested documents are saved. Run the same command to continue.',
    taped: { command: 'ingest', flags, writes: true },
  };
  return withApp(run, async (opened, { signal, tape }) => {
    const app = tape === null ? await chooseCollection(opened, flags.source ?? []) : opened;
    const { collection } = app.config.agent;
    const { summary, seconds } = await ingestDocuments(app, flags, { signal, tape });
    if (flags.json) printJson({ collection, ...summary, seconds });
    else {
      renderSummary(createTerminal(process.stdout), collection, summary, seconds);
      if (summary.added > 0) suggestQuestion(flags.collection);
    }
    return summary.failed.length > 0 ? EXIT_SOME_FAILED : EXIT_SUCCESS;
  });
}

/**
 * The app with a collection named after the directory or site, unless one is chosen or there is one with the default
 * name, which earlier versions used.
 */
async function chooseCollection(app: App, sources: readonly string[]): Promise<App> {
  const { config } = app;
  if (config.collectionChosen || (await app.catalog.list()).includes(config.agent.collection)) return app;
  const collection = nameCollection(sources);
  return collection === '' ? app : app.withConfig({ ...config, agent: { ...config.agent, collection } });
}

/** Directories whose name says nothing without that of the directory around them. */
const GENERIC_NAME = /^(?:docs?|documentation|content|src|source|pages|www|site|book|guides?|en(-us)?)$/i;

/**
 * `fastapi` for `./fastapi/`, `fastapi_docs` for `./fastapi/docs/guide.md`, `docs.python.org` for a page of that site. Of
 * several paths, the directory that contains them counts.
 */
export function nameCollection(sources: readonly string[], cwd = process.cwd()): string {
  const toName = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[^\w]+|_+$/g, '')
      .slice(0, 64);
  const site = sources.find((source) => /^https?:/i.test(source));
  if (site !== undefined) return toName(URL.parse(site)?.hostname ?? '');
  const directories = sources.map((source) => {
    const path = resolve(cwd, source.replace(/[*?[{].*$/s, ''));
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path);
  });
  const directory = directories.reduce((common, other) => {
    let shared = common;
    while (!`${other}/`.startsWith(`${shared}/`) && shared !== dirname(shared)) shared = dirname(shared);
    return shared;
  });
  const names = directory.split(/[/\\]/).slice(1);
  const specific = names.findLastIndex((name) => !GENERIC_NAME.test(name));
  return toName(names.slice(Math.max(0, specific)).join('_'));
}

/** The next command, for people. Without a given collection, the one that was ingested last is used. */
function suggestQuestion(given: string | undefined): void {
  const terminal = createTerminal(process.stdout);
  const flag = given === undefined ? '' : ` -c ${given}`;
  if (terminal.interactive)
    renderText(terminal, `Next: citeloop chat${flag}, or citeloop ask${flag} "your question"`);
}

function assertIngestFlags({ source = [], record, replay }: IngestFlags): void {
  const refuse = (message: string, hint: string) => {
    throw new AppError('invalid_input', message, { hint });
  };
  const isOnTape = (record ?? replay) !== undefined;
  const hasUrl = source.some((each) => /^https?:/i.test(each));
  if (source.length === 0)
    refuse('Nothing to ingest: give a path or URL.', 'Example: citeloop ingest ./docs');
  if (isOnTape && hasUrl)
    refuse('Web pages cannot be recorded on a tape.', 'Save the pages and ingest the files.');
}

/** Updates the collection and records the result on the tape. */
export async function ingestDocuments(
  app: App,
  options: z.infer<typeof ingestSchema>,
  { signal, tape }: CommandRun,
) {
  const { collection } = app.config.agent;
  const startedAt = app.runtime.elapsedMs();
  const onNotice = (notice: string) => renderText(createTerminal(process.stderr), notice);
  const isNew = tape === null || !(await app.catalog.list()).includes(collection);
  const bar = createIndexingBar('Reading');
  let isNotified = false;
  const summary = await indexDocuments(app, collection, options.source ?? [], {
    onProgress(progress) {
      const chunks = progress.embedding?.totalChunks ?? 0;
      if (!isNotified && chunks >= MANY_CHUNKS) {
        isNotified = true;
        onNotice(`${collection} can be searched by words now; search by meaning follows.`);
      }
      bar.update(progress);
    },
    baseUrl: parseFlag('--base-url', options.baseUrl, httpUrlSchema),
    module: options.module,
    description: options.description,
    prune: options.prune ?? false,
    signal,
    formatAdvice: formatAdvice,
    sources: {
      files: { cwd: process.cwd(), onNotice, include: options.include, exclude: options.exclude },
      web: {
        userAgent: `citeloop/${version}`,
        allowPrivate: options.allowPrivate ?? false,
        follow: options.follow ?? true,
        maxPages: parseFlag('--max-pages', options.maxPages, integerSchema(1)),
        maxDepth: parseFlag('--max-depth', options.maxDepth, integerSchema(1)),
        maxSeconds: parseFlag('--max-seconds', options.maxSeconds, integerSchema(1)),
        onNotice: (notice) => onNotice(formatAdvice(notice)),
        runtime: app.runtime,
      },
    },
  }).finally(bar.clear);
  if (tape !== null) {
    // These depend on the machine, not on the run.
    const { gone: _, empty: __, ...recorded } = summary;
    tape.outputs.ingest = { ...recorded, intoNew: isNew };
  }
  return { summary, seconds: (app.runtime.elapsedMs() - startedAt) / 1000 };
}

function renderSummary(
  terminal: Terminal,
  collection: string,
  summary: IngestSummary,
  seconds: number,
): void {
  for (const { uri, message, hint } of summary.failed) {
    const place = uri.startsWith('file:') ? fileURLToPath(uri) : uri;
    const failure = message.includes(place) ? message : `${place}: ${message}`;
    const label = { text: 'failed:', paint: (text: string) => terminal.text(text, 'red') };
    terminal.write(`${wrapPieces(terminal, [label, { text: visibleText(failure) }])}\n`);
    if (hint !== null) renderText(terminal, hint, { style: 'dim', indent: '       ' });
  }
  const counts = (['added', 'changed', 'renamed', 'unchanged', 'removed'] as const)
    .filter((kind) => summary[kind] > 0)
    .map((kind) => `${summary[kind]} ${kind}`);
  if (summary.failed.length > 0) counts.push(`${summary.failed.length} failed`);
  const { chunks: written, embeddedChunks: embedded, gone, empty } = summary;
  const chunks = written + embedded === 0 ? '' : `; ${written} chunks written, ${embedded} embedded`;
  const done = `${counts.join(', ') || 'nothing to do'}${chunks} (${seconds.toFixed(1)} s)`;
  renderText(terminal, `${collection}: ${done}`);
  if (empty.length > 0)
    renderText(terminal, `${empty.length} skipped, empty or minified: ${formatList(empty)}`);
  if (gone.length === 0) return;
  const them = gone.length === 1 ? 'it' : 'them';
  renderText(terminal, `${gone.length} deleted: ${formatList(gone)}. Use --prune to remove ${them}.`);
}

function formatList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map((name) => oneLine(name, 100));
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `${shown.join(', ')}${more}`;
}
