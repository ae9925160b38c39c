import { fileURLToPath } from 'node:url';
import { AppError } from '../domain/app-error.ts';
import { EXIT_DONE } from '../domain/exit-code.ts';
import type { IngestSummary } from '../ingest/ingest.ts';
import { version } from '../version.ts';
import { indexDocuments } from './index-documents.ts';
import type { IngestFlags } from './ingest.ts';
import { createTerminal, type Terminal } from './terminal.ts';
import { withApp } from './with-app.ts';

/** Some documents could not be read: the rest is done. */
const EXIT_SOME_FAILED = 2;

export function runIngest(flags: IngestFlags): Promise<number> {
  // Here --base-url is where the documents are published, not where the model is.
  return withApp(
    { ...flags, ...{ baseUrl: undefined } },
    async (app, signal) => {
      const { collection } = app.config.agent;
      const started = app.runtime.elapsedMs();
      const onNotice = (notice: string) => void process.stderr.write(`${notice}\n`);
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
      const seconds = (app.runtime.elapsedMs() - started) / 1000;
      if (flags.json) process.stdout.write(`${JSON.stringify({ collection, ...summary, seconds })}\n`);
      else render(createTerminal(process.stdout), collection, summary, seconds);
      return summary.failed.length > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
    },
    'What was done so far is kept; the same command goes on from there.',
  );
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
