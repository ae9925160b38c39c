const IDLE = 0;
const RUNNING = 1;
const CLOSED = 2;

/**
 * A flag that a model's worker shares with the thread that started it. ONNX Runtime aborts a process that exits while
 * one of its threads is inside the library, so the exit waits until the worker has left it.
 */
export type NativeGate = Int32Array<SharedArrayBuffer>;

export function createNativeGate(): NativeGate {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Runs synchronous work that calls the native library. Throws once the gate is closed. */
export function runNative<T>(gate: NativeGate, work: () => T): T {
  if (Atomics.compareExchange(gate, 0, IDLE, RUNNING) === CLOSED) throw new Error('the process is ending');
  try {
    return work();
  } finally {
    Atomics.store(gate, 0, IDLE);
    Atomics.notify(gate, 0);
  }
}

/** Blocks until no native work runs, at most `maxWaitMs`, and allows no more of it. */
export function closeNativeGate(gate: NativeGate, maxWaitMs: number): void {
  const deadline = performance.now() + maxWaitMs;
  while (Atomics.compareExchange(gate, 0, IDLE, CLOSED) === RUNNING && performance.now() < deadline) {
    Atomics.wait(gate, 0, RUNNING, deadline - performance.now());
  }
}
