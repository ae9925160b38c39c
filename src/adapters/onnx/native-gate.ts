const OUTSIDE = 0;
const INSIDE = 1;
const CLOSED = 2;

/**
 * Shared by the thread of the model and the one that started it. A process that ends while another of its threads is
 * within the native library is aborted by that library, so whoever ends it waits until the thread has come out.
 */
export type NativeGate = Int32Array<SharedArrayBuffer>;

export function createNativeGate(): NativeGate {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Does work that enters the native library, which must not wait for anything. Throws once the gate is closed. */
export function natively<T>(gate: NativeGate, work: () => T): T {
  if (Atomics.compareExchange(gate, 0, OUTSIDE, INSIDE) === CLOSED) throw new Error('the process is ending');
  try {
    return work();
  } finally {
    Atomics.store(gate, 0, OUTSIDE);
    Atomics.notify(gate, 0);
  }
}

/** Waits until nobody is inside, and lets nobody in again. Blocks: for the time when a process ends. */
export function closeGate(gate: NativeGate, patienceMs: number): void {
  const until = performance.now() + patienceMs;
  while (Atomics.compareExchange(gate, 0, OUTSIDE, CLOSED) === INSIDE && performance.now() < until) {
    Atomics.wait(gate, 0, INSIDE, until - performance.now());
  }
}
