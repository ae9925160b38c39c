import { execSync } from 'node:child_process';
import { findEngine, installCommand } from '../../src/adapters/llama/engine-package.ts';
import { loadConfig } from '../../src/config/load-config.ts';

/** By the settings of whoever runs the tests, before a test goes elsewhere. */
const { engineDir } = loadConfig();

/** Where the engine of generative models lies in the user's cache, shared by all tests. */
export function engineDirectory(): string {
  return engineDir;
}

/** Installed once, by the very command that a person is told. */
export function ensureLlamaEngine(): void {
  const directory = engineDirectory();
  const command = installCommand(directory);
  if (findEngine(directory) === null && command !== null) execSync(command, { stdio: 'ignore' });
}
