import { mkdir } from 'node:fs/promises';
import {
  describeEngine,
  type LocalModel,
  listLocalModels,
  measureLocalModel,
} from '../../app/local-models.ts';
import { commandLineHint } from '../advice.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createSpinner } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { withApp } from './with-app.ts';

const HEADINGS = ['model', 'parameters', 'stored as', 'size', 'context', 'memory', 'tokens/s'];

export function listModels(flags: CommonFlags): Promise<void> {
  return withApp({ flags }, async ({ config }) => {
    const { directory, models, faults } = await listLocalModels(config);
    const engine = describeEngine(config);
    if (flags.json) {
      const damaged = faults.map(({ file, fault }) => ({
        file,
        fault: fault.message,
        fix: commandLineHint(fault),
      }));
      return void process.stdout.write(`${JSON.stringify({ directory, engine, models, damaged })}\n`);
    }
    const terminal = createTerminal(process.stdout);
    const say = (text: string) => terminal.write(`${terminal.text(text)}\n`);
    if (models.length > 0) terminal.write(table(terminal, HEADINGS, models.map(row)));
    else {
      // Where it cannot be made, whoever puts a file there is told why.
      await mkdir(directory, { recursive: true }).catch(() => {});
      say(`There are no models in ${directory} yet.`);
      say('Put a GGUF file there, or name one by its path: citeloop ask --model ./model.gguf');
      say('Which ones suit is in docs/services.md.');
    }
    for (const { file, fault } of faults) process.stderr.write(`${file}: ${fault.message}\n`);
    if (engine.advice !== null) {
      say(
        engine.version === null
          ? 'The engine that runs them is not installed.'
          : `The engine that is installed is of version ${engine.version}, which is not known here.`,
      );
      say(engine.advice);
    }
  });
}

export interface MeasureFlags extends CommonFlags {
  gguf?: string | undefined;
}

export function measureModel(flags: MeasureFlags): Promise<void> {
  const { gguf = '' } = flags;
  return withApp({ flags, whenInterrupted: 'Nothing was kept.' }, async ({ config, runtime }, { signal }) => {
    const spinner = createSpinner(process.stderr);
    spinner.show(`Loading and measuring ${gguf}`);
    const { path, speed } = await measureLocalModel(config, gguf, { clock: runtime, signal }).finally(
      spinner.hide,
    );
    if (flags.json) return void process.stdout.write(`${JSON.stringify({ path, ...speed })}\n`);
    const terminal = createTerminal(process.stdout);
    terminal.write(
      `${terminal.text(gguf, 'bold')} reads ${speed.read} tokens a second here, and writes ${speed.written}.\n`,
    );
  });
}

function row(model: LocalModel): string[] {
  const { file, parameters, quantization, bytes, contextLength, memoryNeeded, fits, speed } = model;
  return [
    file,
    parameters < 1e9
      ? `${(parameters / 1e6).toFixed(0)} million`
      : `${(parameters / 1e9).toFixed(1)} billion`,
    quantization ?? `${((bytes * 8) / parameters).toFixed(1)} bits`,
    gigabytes(bytes),
    contextLength === undefined ? '' : String(contextLength),
    `${gigabytes(memoryNeeded)}${fits ? '' : ', more than is free'}`,
    speed === null ? 'not measured' : speed.written.toFixed(speed.written < 10 ? 1 : 0),
  ];
}

function gigabytes(bytes: number): string {
  return bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
