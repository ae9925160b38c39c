import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readProjectFiles, readSettingsFile } from '../../config/collect-settings.ts';
import {
  formatProjectFile,
  openTrustStore,
  type ProjectFile,
  readProjectFile,
  resolveDirectory,
  UntrustedFilesError,
  VARIABLES_FILE,
} from '../../config/trust.ts';
import { AppError } from '../../faults/app-error.ts';
import type { CommonFlags, Switches } from '../flags/common-flags.ts';
import { formatTable } from '../terminal/format-table.ts';
import { askYesOrNo, createTerminal, printJson } from '../terminal/terminal.ts';

export interface TrustFlags extends CommonFlags, Switches<'list' | 'revoke'> {
  paths?: string[] | undefined;
}

export async function runTrust({ paths = [], list, revoke, config, json }: TrustFlags): Promise<void> {
  const places = paths.length === 0 ? [config ?? '.'] : paths;
  if (list) return listTrusted(json);
  if (revoke) return revokeTrust(places, json);
  const trusted = places.flatMap(findProjectFiles);
  if (trusted.length > 0) await openTrustStore().add(trusted);
  if (json) return printJson({ trusted });
  printLines(
    trusted.map((file) => `Trusted ${formatProjectFile(file)}`),
    'Nothing here needs trust.',
  );
}

/** Throws the error unless --trust is given or the user agrees. */
export async function trustRefusedFiles(error: Error, { trust, json }: CommonFlags): Promise<void> {
  if (!(error instanceof UntrustedFilesError)) throw error;
  if (!trust) {
    if (json || !process.stdin.isTTY || !process.stderr.isTTY) throw error;
    const stderr = createTerminal(process.stderr);
    for (const file of error.files) stderr.write(`${stderr.text(formatProjectFile(file))}\n`);
    if (!(await askYesOrNo('Do you trust this?'))) throw error;
  }
  await openTrustStore().add(error.files);
}

/** The files at a path that need trust. A file that is neither settings nor variables is code. */
function findProjectFiles(path: string): ProjectFile[] {
  if (!existsSync(path)) throw new AppError('invalid_input', `${path} does not exist.`);
  if (statSync(path).isDirectory()) {
    const { project, dotEnv } = readProjectFiles(resolve(path));
    return [project, dotEnv].flatMap((file) => (file?.project?.sets.length ? [file.project] : []));
  }
  if (!path.endsWith('.json') && basename(path) !== VARIABLES_FILE)
    return [{ ...readProjectFile(path).file, sets: [{ name: 'code' }] }];
  const project = readSettingsFile(resolve(path), 'invalid_input')?.project;
  return project?.sets.length ? [project] : [];
}

function listTrusted(json: boolean | undefined): void {
  const files = Object.entries(openTrustStore().list()).map(([path, sha256]) => {
    return { path, sha256, state: existsSync(path) ? compareWithTrusted(path, sha256) : 'gone' };
  });
  if (json) return void printJson({ files });
  const terminal = createTerminal(process.stdout);
  const rows = files.map(({ path, state }) => [path, state]);
  terminal.write(formatTable(terminal, ['file', 'state'], rows));
}

function compareWithTrusted(path: string, sha256: string): 'trusted' | 'changed' {
  try {
    return readProjectFile(path).file.sha256 === sha256 ? 'trusted' : 'changed';
  } catch {
    return 'changed';
  }
}

async function revokeTrust(places: readonly string[], json: boolean | undefined): Promise<void> {
  const store = openTrustStore();
  // The directory may be gone.
  const named = places.flatMap((place) => [
    resolveDirectory(place),
    dirname(resolveDirectory(join(place, 'x'))),
  ]);
  const revoked = Object.keys(store.list()).filter(
    (path) => named.includes(path) || named.includes(dirname(path)),
  );
  if (revoked.length > 0) await store.remove(revoked);
  if (json) return printJson({ revoked });
  printLines(
    revoked.map((path) => `Revoked ${path}`),
    'Nothing was trusted here.',
  );
}

function printLines(lines: readonly string[], whenEmpty: string): void {
  const terminal = createTerminal(process.stdout);
  for (const line of lines.length === 0 ? [whenEmpty] : lines) terminal.write(`${terminal.text(line)}\n`);
}
