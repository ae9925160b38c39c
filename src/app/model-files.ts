import { totalmem } from 'node:os';
import { requireEngine } from '../adapters/llama/engine-package.ts';
import { readGgufHeader } from '../adapters/llama/gguf-header.ts';
import {
  createLlamaService,
  LLAMA_ADDRESS,
  type LlamaService,
  modelNameOf,
} from '../adapters/llama/llama-service.ts';
import { memoryNeeded } from '../adapters/llama/memory-needed.ts';
import { findModelFile, modelBytes } from '../adapters/llama/models-directory.ts';
import type { Config } from '../config/load-config.ts';
import { isModelFile, NUMBERS, OFFLINE_MODEL } from '../domain/choices.ts';
import { advice, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';

/** More of a window than this is used only where somebody asks for it: it takes memory, and time to be read. */
const USUAL_WINDOW = NUMBERS.contextWindow.usual;
/** What the instructions, the tools, a passage and an answer to a question take at the least. */
const LEAST_WINDOW = 1024;
/** Of the window, for an answer. */
const ANSWER_SHARE = 1 / 8;

/**
 * The configuration with what is known of a model in a file of this machine: the file that its name stands for, the
 * window that it was made for, and no chance in what it writes. What is wrong with it is told when it is asked.
 */
export async function withModelFile(config: Config): Promise<Config> {
  const { agent, origins } = config;
  if (agent.model === OFFLINE_MODEL || agent.baseUrl !== undefined) return config;
  const isFile = isModelFile(agent.model);
  const isWindowKnown = origins.contextWindow !== undefined;
  // Settings of a tape hold the window: the file need not be there.
  const path = isFile && isWindowKnown ? null : await fileOf(config);
  if (!isFile && path === null) return config;
  const contextWindow = isWindowKnown || path === null ? agent.contextWindow : windowOf(path);
  const most = Math.ceil(contextWindow * ANSWER_SHARE);
  return {
    ...config,
    agent: {
      ...agent,
      model: isFile ? agent.model : `${agent.model}.gguf`,
      contextWindow,
      maxTokens: origins.maxTokens === undefined ? Math.min(agent.maxTokens, most) : agent.maxTokens,
      temperature: origins.temperature === undefined ? 0 : agent.temperature,
    },
  };
}

function fileOf({ agent, ggufDir }: Config): Promise<string | null> {
  return findModelFile(agent.model, { directory: ggufDir }).catch(() => null);
}

function windowOf(path: string): number {
  try {
    return Math.min(readGgufHeader(path).contextLength ?? USUAL_WINDOW, USUAL_WINDOW);
  } catch {
    return USUAL_WINDOW;
  }
}

/** A fetch that asks models of files by the names that stand in requests; whatever else is asked goes to `fetch`. */
export function fetchWithModelFiles(config: Config, files: ModelFiles): typeof globalThis.fetch {
  return async (input, init) => {
    if (!String(input).startsWith(`${LLAMA_ADDRESS}/`)) return globalThis.fetch(input, init);
    const { model } = JSON.parse(String(init?.body)) as { model: string };
    const isConfigured = modelNameOf(config.agent.model) === model;
    const agent = isConfigured ? config.agent : { ...config.agent, model };
    return (await files.open(await withModelFile({ ...config, agent }))).fetch(input, init);
  };
}

/** Models in files that an app has in use. */
export interface ModelFiles {
  /** The configured one, as a service inside this process. Throws what is wrong with it; nothing is loaded yet. */
  open(config: Config): Promise<LlamaService>;
  /** What one of them is at before it writes, as whoever waits for an answer waits for it too. */
  preparing(): string | null;
  close(): Promise<void>;
}

export function createModelFiles(): ModelFiles {
  const services = new Map<string, LlamaService>();
  return {
    async open(config) {
      const { agent, threads, engineDir } = config;
      const path = await usableModelFile(config);
      const key = JSON.stringify([path, agent.contextWindow]);
      const known = services.get(key);
      if (known !== undefined) return known;
      const service = createLlamaService({
        path,
        contextSize: agent.contextWindow,
        threads,
        engineDirectory: engineDir,
      });
      services.set(key, service);
      return service;
    },
    preparing() {
      for (const service of services.values()) {
        const preparing = service.preparing();
        if (preparing !== null) return preparing;
      }
      return null;
    },
    async close() {
      for (const service of services.values()) await service.close();
      services.clear();
    },
  };
}

/** The file of the configured model. Throws a sentence for one that cannot answer, or where the engine is missing. */
export async function usableModelFile({ agent, ggufDir, engineDir }: Config): Promise<string> {
  const path = await findModelFile(agent.model, { directory: ggufDir });
  if (path === null) throw new AppError('configuration_error', `There is no model file ${agent.model}.`);
  const header = readGgufHeader(path);
  const { chatTemplate, contextLength, parts } = header;
  requireEngine(engineDir);
  if (chatTemplate === undefined) {
    throw new AppError(
      'configuration_error',
      `${path} has no chat template: it was made to go on with a text, not to answer.`,
      { hint: 'Use the version of the model that is called chat, instruct or it.' },
    );
  }
  if (contextLength !== undefined && agent.contextWindow > contextLength) {
    throw new AppError(
      'configuration_error',
      `${path} was made for ${contextLength} tokens at once, and contextWindow is ${agent.contextWindow}.`,
      { hint: advice`Lower ${setting('contextWindow')}, or leave it out.` },
    );
  }
  if (agent.contextWindow < LEAST_WINDOW) {
    throw new AppError(
      'configuration_error',
      `${path} is to hold ${agent.contextWindow} tokens at once, and an answer from a passage takes ${LEAST_WINDOW} at the least.`,
      {
        hint:
          contextLength !== undefined && contextLength < LEAST_WINDOW
            ? 'Use a model that was made for more.'
            : advice`Raise ${setting('contextWindow')}, or leave it out.`,
      },
    );
  }
  const fileBytes = await modelBytes(path, parts);
  const needed = memoryNeeded({ ...header, fileBytes }, agent.contextWindow);
  if (needed > totalmem()) {
    throw new AppError(
      'configuration_error',
      `${path} needs ${gigabytes(needed)} of memory with a window of ${agent.contextWindow} tokens, and this machine has ${gigabytes(totalmem())}.`,
      {
        hint: advice`Use a smaller model, one stored in fewer bits, or a smaller ${setting('contextWindow')}.`,
      },
    );
  }
  return path;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
