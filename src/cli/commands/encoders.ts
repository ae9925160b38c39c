import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { openEncoder, probeEncoder } from '../../app/embedders.ts';
import { encoderDirectory } from '../../config/directories.ts';
import { loadConfig } from '../../config/load-config.ts';
import { parseFlag } from '../../config/parse-value.ts';
import { AppError } from '../../faults/app-error.ts';
import { parseJson } from '../../text/parse-json.ts';
import type { CommonFlags, FlagValues } from '../flags/common-flags.ts';
import { formatTable } from '../terminal/format-table.ts';
import { createProgressBar } from '../terminal/progress.ts';
import { createTerminal, printJson } from '../terminal/terminal.ts';
import { formatMegabytes } from './collections.ts';
import { withApp } from './with-app.ts';

export interface EncoderFlags extends CommonFlags, FlagValues<'source' | 'name' | 'file', string> {}

const MANIFEST = 'encoder.json';

/** An encoder that was added under a name, as in its manifest. */
export const addedEncoderSchema = z.object({
  name: z.string().regex(/^\w[\w.-]{0,63}$/),
  kind: z.enum(['encoder', 'reranker', 'entailment']),
  dimensions: z.int().nullable(),
  bytes: z.int(),
  source: z.string(),
  revision: z.string().nullable(),
  license: z.string().nullable(),
  weights: z.string(),
  directory: z.string(),
});
type AddedEncoder = z.infer<typeof addedEncoderSchema>;

const nameSchema = addedEncoderSchema.shape.name.describe('letters, digits, dots and hyphens');

const USES = {
  encoder: 'ingest ./docs --embedder',
  reranker: 'search "..." --rerank',
  entailment: 'ask "..." --check',
};

/** Incomplete encoders and those of other versions are left out. */
export function readEncoders(home: string): AddedEncoder[] {
  const directory = join(home, 'encoders');
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.flatMap((name) => {
    const path = join(directory, name, MANIFEST);
    const text = nameSchema.safeParse(name).success && existsSync(path) ? readFileSync(path, 'utf8') : '';
    return addedEncoderSchema.safeParse(parseJson(text)).data ?? [];
  });
}

export function listEncoders({ config, json }: CommonFlags): void {
  const encoders = readEncoders(loadConfig({ configPath: config, whenUntrusted: 'ignore' }).home);
  if (json) return void printJson({ encoders });
  const terminal = createTerminal(process.stdout);
  const rows = encoders.map(({ name, kind, dimensions, bytes, source }) => {
    return [name, kind, String(dimensions ?? ''), formatMegabytes(bytes), source];
  });
  const table = formatTable(terminal, ['name', 'kind', 'dimensions', 'size', 'source'], rows);
  terminal.write(rows.length > 0 ? table : 'No encoders yet. Add one: citeloop encoders add <repository>\n');
}

export function addEncoder({ source: wanted = '', file, ...flags }: EncoderFlags): Promise<void> {
  const whenInterrupted = 'Run the same command again to continue.';
  return withApp({ flags, whenInterrupted }, async (app, { signal }) => {
    const { home } = app.config;
    const { fetchInto, ...source } = await openEncoder(wanted, { hub: app.config.hub, file, signal });
    const name = parseFlag('--name', flags.name ?? basename(source.source), nameSchema) ?? '';
    const directory = encoderDirectory(home, name);
    if (existsSync(dirname(directory))) {
      throw new AppError('invalid_input', `There is an encoder "${name}" already.`, {
        hint: `Choose another name with --name, or remove it: citeloop encoders remove ${name}`,
      });
    }
    const key = [name, source.revision, basename(source.weights)].join('-');
    const unfinished = join(home, 'encoders', `.${key}`);
    const files = join(unfinished, name);
    await mkdir(unfinished, { recursive: true });
    const progress = createProgressBar(`Downloading ${name}: MB`);
    const megabytes = (bytes: number) => Math.round(bytes / 1e6);
    await fetchInto(files, {
      signal,
      onRetry: (retry) => app.emit({ type: 'retry', ...retry }),
      onProgress: (done) => progress.update({ done: megabytes(done), total: megabytes(source.bytes) }),
    }).finally(progress.clear);
    const probed = await probeEncoder(app.config, files, { ...app, signal });
    const encoder: AddedEncoder = { name, ...probed, ...source, directory };
    await writeFile(join(unfinished, MANIFEST), `${JSON.stringify(encoder, null, 2)}\n`);
    await rename(unfinished, dirname(directory));
    if (flags.json) return printJson(encoder);
    const { kind, dimensions, bytes, license } = encoder;
    const facts = [kind, dimensions && `${dimensions} dimensions`, formatMegabytes(bytes), license];
    const terminal = createTerminal(process.stdout);
    const text = `Added ${name}: ${facts.filter(Boolean).join(', ')}\nUse it: citeloop ${USES[kind]} onnx:${name}`;
    terminal.write(`${terminal.text(text)}\n`);
  });
}

export async function removeEncoder({ name = '', config, json }: EncoderFlags): Promise<void> {
  const { home } = loadConfig({ configPath: config, whenUntrusted: 'ignore' });
  const names = readEncoders(home).map((each) => each.name);
  if (!names.includes(name)) {
    const hint = `Encoders: ${names.join(', ') || 'none'}.`;
    throw new AppError('invalid_input', `Unknown encoder "${name}".`, { hint });
  }
  await rm(dirname(encoderDirectory(home, name)), { recursive: true });
  if (json) return printJson({ deleted: name });
  process.stdout.write(`Removed ${name}.\n`);
}
