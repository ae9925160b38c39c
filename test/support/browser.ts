import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';

/** Long enough for a busy machine. */
export const BROWSER_TIMEOUT_MS = 120_000;
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

let launched: Promise<Browser> | undefined;

/**
 * Returns the Chromium of this worker, which exits with the worker. Without Chromium it prints a warning and returns
 * null, or throws if CI=true. Call it at the top level of a test file.
 */
export async function getTestBrowser(): Promise<Browser | null> {
  try {
    launched ??= launchChromium();
    return await launched;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    process.stderr.write(
      `\n${'='.repeat(78)}\nSKIPPED: tests in a real browser did not run.\n` +
        `${(error as Error).message.split('\n').slice(0, 3).join('\n')}\nInstall Chromium to run them, for example: apt-get install chromium\n${'='.repeat(78)}\n\n`,
    );
    return null;
  }
}

/** Throws if Chromium is not on the PATH. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('Chromium is not on the PATH.');
  const { chromium } = await import('playwright-core');
  // Containers lack user namespaces and shared memory. The sandbox is not needed: the pages are our own.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath, args, timeout: BROWSER_TIMEOUT_MS });
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
