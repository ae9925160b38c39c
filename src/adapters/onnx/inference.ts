import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { type InferenceSession, Tensor, type TensorConstructor } from 'onnxruntime-common';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { BINDING } from './engine.ts';

const LOG_WARNINGS = 2;

/** What the native library gives. The JavaScript that comes with it wraps the same calls into promises. */
interface Binding {
  initOrtOnce(logLevel: number, tensor: TensorConstructor, isMainThread: boolean): void;
  InferenceSession: new () => NativeSession;
}

interface NativeSession {
  loadModel(
    bytes: ArrayBufferLike,
    offset: number,
    length: number,
    options: InferenceSession.SessionOptions,
  ): void;
  run(
    feeds: Record<string, Tensor>,
    outputs: Record<string, null>,
    options: InferenceSession.RunOptions,
  ): Record<string, Tensor>;
  dispose(): void;
}

export type Engine = Pick<Binding, 'InferenceSession'>;

/** Loads the native library. Nothing here waits: each call enters the library and comes back when it is done. */
export function openEngine(directory: string): Engine {
  try {
    const binding = createRequire(import.meta.url)(join(directory, BINDING)) as Binding;
    binding.initOrtOnce(LOG_WARNINGS, Tensor, isMainThread);
    return binding;
  } catch (error) {
    throw new AppError(
      'configuration_error',
      `The engine of the embedding model cannot be loaded: ${messageOf(error)}.`,
      {
        hint: `Remove ${directory} to have it fetched anew; on a system that it was not made for, use a hosted embedder.`,
        cause: error,
      },
    );
  }
}

export interface ModelSession {
  /** The vector of every token, one after the other. */
  run(tokens: readonly number[]): Float32Array;
  close(): void;
}

/** One text a run: with weights of one byte, what a text comes to would depend on the texts beside it. */
export function createSession({ InferenceSession }: Engine, weights: Buffer, threads: number): ModelSession {
  const session = new InferenceSession();
  session.loadModel(weights.buffer, weights.byteOffset, weights.byteLength, {
    intraOpNumThreads: threads,
    // Threads that spin while they wait take the processor from whatever else runs.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  return {
    run(tokens) {
      const row = (data: BigInt64Array) => new Tensor('int64', data, [1, tokens.length]);
      const { last_hidden_state: states } = session.run(
        {
          input_ids: row(BigInt64Array.from(tokens, BigInt)),
          attention_mask: row(new BigInt64Array(tokens.length).fill(1n)),
          token_type_ids: row(new BigInt64Array(tokens.length)),
        },
        { last_hidden_state: null },
        {},
      );
      // The model is known by its hash, and so is the type of what it gives.
      return states?.data as Float32Array;
    },
    close: () => session.dispose(),
  };
}
