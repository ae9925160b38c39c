import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Patterns have the syntax of `.gitignore`. */
export interface FileFilterOptions {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
}

export interface FileFilter {
  /** What excludes a path below the root: an ignore file or the given patterns. Null if it is included. */
  excludedBy(path: string, isDirectory: boolean): Promise<'rules' | 'patterns' | null>;
}

/** Rules of the later file take precedence. */
const IGNORE_FILES = ['.gitignore', '.citeloopignore'];

/**
 * Filters by patterns and by the `.gitignore` and `.citeloopignore` files from the top of the repository down, as git
 * does. Rules that exclude the root itself are not applied, because the user named it.
 */
export async function createFileFilter(root: string, options: FileFilterOptions = {}): Promise<FileFilter> {
  const included = toRules(options.include);
  const excluded = toRules(options.exclude);
  const rulesByDirectory = new Map<string, Promise<Ignore | null>>();
  const top = findRepositoryRoot(root);
  const highest = top !== root && (await isIgnored(root, true, top)) ? root : top;

  function loadRules(directory: string): Promise<Ignore | null> {
    const rules = rulesByDirectory.get(directory) ?? readRules(directory);
    rulesByDirectory.set(directory, rules);
    return rules;
  }

  /** The nearest directory with a matching rule decides. */
  async function isIgnored(path: string, isDirectory: boolean, upTo: string): Promise<boolean> {
    for (let directory = dirname(path); ; directory = dirname(directory)) {
      const { ignored, unignored } = matchRules(await loadRules(directory), directory, path, isDirectory);
      if (ignored || unignored) return ignored;
      if (directory === upTo || directory === dirname(directory)) return false;
    }
  }

  return {
    async excludedBy(path, isDirectory) {
      if (matchRules(excluded, root, path, isDirectory).ignored) return 'patterns';
      if (included !== null && !isDirectory && !matchRules(included, root, path, false).ignored)
        return 'patterns';
      return (await isIgnored(path, isDirectory, highest)) ? 'rules' : null;
    },
  };
}

/** What excludes a path below the root, or one of its parents. Null if nothing does. */
export async function findExclusion(filter: FileFilter, root: string, path: string) {
  const names = relative(root, path).split(sep);
  for (const [index] of names.entries()) {
    const isFile = index === names.length - 1;
    const reason = await filter.excludedBy(join(root, ...names.slice(0, index + 1)), !isFile);
    if (reason !== null) return reason;
  }
  return null;
}

/** Whether a listing of the root leaves out a path because of a name in it. */
export function hasSkippedName(path: string, root: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((name) => name.startsWith('.') || name === 'node_modules');
}

function toRules(given: readonly string[] | undefined): Ignore | null {
  return given === undefined || given.length === 0 ? null : ignore().add(given);
}

function matchRules(rules: Ignore | null, directory: string, path: string, isDirectory: boolean) {
  if (rules === null) return { ignored: false, unignored: false };
  const below = relative(directory, path).split(sep).join('/');
  return rules.test(isDirectory ? `${below}/` : below);
}

/** The root of the repository of a path; the path itself outside of repositories. */
function findRepositoryRoot(root: string): string {
  for (let directory = root; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
  }
  return root;
}

async function readRules(directory: string): Promise<Ignore | null> {
  const texts = await Promise.all(
    IGNORE_FILES.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')),
  );
  return texts.every((text) => text === '') ? null : ignore().add(texts.join('\n'));
}
