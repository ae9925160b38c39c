import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Patterns are written as in `.gitignore`. */
export interface ChoiceOptions {
  /** Only files that match one of these. */
  include?: readonly string[] | undefined;
  /** Nothing that matches one of these. */
  exclude?: readonly string[] | undefined;
}

export interface FileChoice {
  /** Why a path below the root is left out: by a file of rules, or by the patterns given. Null if it is not. */
  leavesOut(path: string, isDirectory: boolean): Promise<'rules' | 'patterns' | null>;
}

/** In one folder the later file has the last word. */
const RULE_FILES = ['.gitignore', '.citeloopignore'];

/**
 * Decides by the `.gitignore` and `.citeloopignore` of every folder from the top of the repository down, as git
 * does, and by patterns. Rules that would leave out the root itself do not count: it was named.
 */
export async function createFileChoice(root: string, options: ChoiceOptions = {}): Promise<FileChoice> {
  const included = patterns(options.include);
  const excluded = patterns(options.exclude);
  const read = new Map<string, Promise<Ignore | null>>();
  const top = topOf(root);
  const highest = top !== root && (await isIgnored(root, true, top)) ? root : top;

  function rulesOf(directory: string): Promise<Ignore | null> {
    let rules = read.get(directory);
    if (rules === undefined) {
      rules = readRules(directory);
      read.set(directory, rules);
    }
    return rules;
  }

  /** The rules of the nearest folder that says anything decide. */
  async function isIgnored(path: string, isDirectory: boolean, upTo: string): Promise<boolean> {
    for (let directory = dirname(path); ; directory = dirname(directory)) {
      const { ignored, unignored } = test(await rulesOf(directory), directory, path, isDirectory);
      if (ignored || unignored) return ignored;
      if (directory === upTo || directory === dirname(directory)) return false;
    }
  }

  return {
    async leavesOut(path, isDirectory) {
      if (test(excluded, root, path, isDirectory).ignored) return 'patterns';
      if (included !== null && !isDirectory && !test(included, root, path, false).ignored) return 'patterns';
      return (await isIgnored(path, isDirectory, highest)) ? 'rules' : null;
    },
  };
}

function patterns(given: readonly string[] | undefined): Ignore | null {
  return given === undefined || given.length === 0 ? null : ignore().add(given);
}

function test(rules: Ignore | null, directory: string, path: string, isDirectory: boolean) {
  if (rules === null) return { ignored: false, unignored: false };
  const way = relative(directory, path).split(sep).join('/');
  return rules.test(isDirectory ? `${way}/` : way);
}

/** The folder of the repository that a path is in; the path itself if it is in none. */
function topOf(root: string): string {
  for (let directory = root; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
  }
  return root;
}

async function readRules(directory: string): Promise<Ignore | null> {
  const texts = await Promise.all(
    RULE_FILES.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')),
  );
  return texts.every((text) => text === '') ? null : ignore().add(texts.join('\n'));
}
