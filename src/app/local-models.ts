import { findEngine, installAdvice, isKnownVersion } from '../adapters/llama/engine-package.ts';
import { type GgufHeader, readGgufHeader } from '../adapters/llama/gguf-header.ts';
import { memoryNeeded } from '../adapters/llama/memory-needed.ts';
import { keepSpeed, type ModelSpeed, readSpeed } from '../adapters/llama/model-speeds.ts';
import {
  findModelFile,
  listModelFiles,
  type ModelFile,
  modelBytes,
} from '../adapters/llama/models-directory.ts';
import type { Config } from '../config/load-config.ts';
import { advice, command } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';
import type { Runtime } from '../ports/runtime.ts';

/** A model in a GGUF file on this machine. */
export interface LocalModel extends Omit<GgufHeader, 'chatTemplate' | 'fileBytes'> {
  /** As it is named after `--model`. */
  file: string;
  path: string;
  bytes: number;
  hasChatTemplate: boolean;
  /** With as much of its context as is used. */
  memoryNeeded: number;
  /** Whether that much is free now. */
  fits: boolean;
  /** Null until it was measured here. */
  speed: ModelSpeed | null;
}

export interface LocalModels {
  directory: string;
  models: LocalModel[];
  /** Files that cannot be used, each with what is wrong. */
  faults: { file: string; fault: AppError }[];
}

/** Those of the models directory, and the configured one wherever it lies. Reads no more than their headers. */
export async function listLocalModels(config: Config): Promise<LocalModels> {
  const { ggufDir: directory } = config;
  const listed: LocalModels = { directory, models: [], faults: [] };
  const add = async (file: string, find: () => Promise<string | null>) => {
    try {
      const path = await find();
      if (path !== null) listed.models.push(await describe({ name: file, path }, config));
    } catch (fault) {
      if (!(fault instanceof AppError)) throw fault;
      listed.faults.push({ file, fault });
    }
  };
  const files = await listModelFiles(directory);
  for (const { name, path } of files) await add(name, async () => path);
  const { model } = config.agent;
  await add(model, async () => {
    const path = await configuredModelFile(config);
    return files.some((file) => file.path === path) ? null : path;
  });
  return listed;
}

/** What can stand after `--model` for a file of the models directory. */
export async function localModelNames({ ggufDir }: Config): Promise<string[]> {
  return (await listModelFiles(ggufDir)).map(({ name }) => name);
}

/** Null where the configured model is none of this machine's. */
async function configuredModelFile({ agent, ggufDir }: Config): Promise<string | null> {
  return agent.baseUrl === undefined ? findModelFile(agent.model, { directory: ggufDir }) : null;
}

async function describe({ name: file, path }: ModelFile, { agent, cache }: Config): Promise<LocalModel> {
  const { chatTemplate, fileBytes, ...header } = readGgufHeader(path);
  const bytes = await modelBytes(path, header.parts);
  const context = Math.min(header.contextLength ?? agent.contextWindow, agent.contextWindow);
  const needed = memoryNeeded({ ...header, fileBytes: bytes }, context);
  return {
    ...header,
    file,
    path,
    bytes,
    // The first of several parts knows of its own weights alone.
    parameters: Math.round(header.parameters * (bytes / fileBytes)),
    hasChatTemplate: chatTemplate !== undefined,
    memoryNeeded: needed,
    fits: needed <= process.availableMemory(),
    speed: await readSpeed(cache, path),
  };
}

/** Finds out how fast a model is here, and keeps it for the list. Throws an AppError for one that is not there or cannot run. */
export async function measureLocalModel(
  { ggufDir, engineDir, threads, cache }: Config,
  model: string,
  { clock, signal }: { clock: Pick<Runtime, 'now'>; signal: AbortSignal },
): Promise<{ path: string; speed: ModelSpeed }> {
  const path = await findModelFile(model, { directory: ggufDir });
  if (path === null) {
    throw new AppError('invalid_input', `There is no model ${model} in ${ggufDir}.`, {
      hint: advice`Name the path of a GGUF file, or one of that directory${command('models')}`,
    });
  }
  readGgufHeader(path);
  const { measureSpeed } = await import('../adapters/llama/measure-speed.ts');
  const measured = await measureSpeed({ path, threads, engineDirectory: engineDir }, signal);
  const speed = { ...measured, measuredAt: clock.now().toISOString() };
  await keepSpeed(cache, path, speed);
  return { path, speed };
}

/** What runs them, as far as it is installed. */
export interface LocalEngine {
  /** Null if it is not there. */
  version: string | null;
  directory: string | null;
  /** Whether it is there in a version that is known here. */
  usable: boolean;
  /** How one comes by it; null where it is there. */
  advice: string | null;
}

export function describeEngine({ engineDir }: Config): LocalEngine {
  const { version = null, directory = null } = findEngine(engineDir) ?? {};
  const usable = version !== null && isKnownVersion(version);
  return { version, directory, usable, advice: usable ? null : installAdvice(engineDir) };
}
