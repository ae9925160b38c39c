import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';

/** For a browser and its pages on a busy machine. */
export const PATIENCE_MS = 120_000;
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

let launched: Promise<Browser> | undefined;

/**
 * A real Chromium for all test files of this worker; it ends with the worker, at the end of the pipe between them.
 * Null, and loudly so, where there is none; where CI=true that is a failure. To be awaited at the top.
 */
export async function browserForTests(): Promise<Browser | null> {
  try {
    launched ??= launchChromium();
    return await launched;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    process.stderr.write(
      `\n${'='.repeat(78)}\nSKIPPED: the tests in a real browser were NOT run.\n` +
        `${(error as Error).message.split('\n').slice(0, 3).join('\n')}\nInstall Chromium to run them, for example: apt-get install chromium\n${'='.repeat(78)}\n\n`,
    );
    return null;
  }
}

/** Throws where no Chromium is on the PATH. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('There is no Chromium on the PATH.');
  const { chromium } = await import('playwright-core');
  // Containers have no user namespaces to sandbox in, and little shared memory; the pages are our own.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
}

export function findChromium(): string | null {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  const candidates = NAMES.flatMap((name) => directories.map((directory) => join(directory, name)));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
