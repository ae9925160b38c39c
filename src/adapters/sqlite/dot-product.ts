/** dot-product.wat, compiled: 230 bytes of WebAssembly SIMD. */
const BINARY =
  'AGFzbQEAAAABCQFgBX9/f39/AAMCAQAFAwEAAQcRAgZtZW1vcnkCAARzY2FuAAAKtAEBsQECBH8DeyAAIQcCQANAIAUgAU4NASADIQggByACaiEG/QwAAAAAAAAAAAAAAAAAAAAAIQkDQCAH/QAEACEKIAj9AAQAIQsgCSAK/YcBIAv9hwH9ugH9rgEhCSAJIAr9iAEgC/2IAf26Af2uASEJIAhBEGohCCAHQRBqIQcgByAGSQ0ACyAEIAVBAnRqIAn9GwAgCf0bAWogCf0bAiAJ/RsDamo2AgAgBUEBaiEFDAALCws=';

const PAGE = 65_536;

/** The little of WebAssembly that is used here; Node's own types leave it out. */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: unknown;
  }
}

/** The arguments are byte offsets into `memory`, except `count` and `dimensions` (a multiple of 16). */
export type Scan = (vectors: number, count: number, dimensions: number, query: number, out: number) => void;

export interface DotProduct {
  /** Bytes of the memory, grown to at least `size`. Views made before a growth are no longer valid. */
  bytes(size: number): ArrayBuffer;
  scan: Scan;
}

export function createDotProduct(): DotProduct {
  const module = new WebAssembly.Module(Buffer.from(BINARY, 'base64'));
  const { memory, scan } = new WebAssembly.Instance(module).exports as {
    memory: WebAssembly.Memory;
    scan: Scan;
  };
  return {
    bytes(size) {
      const missing = Math.ceil((size - memory.buffer.byteLength) / PAGE);
      if (missing > 0) memory.grow(missing);
      return memory.buffer;
    },
    scan,
  };
}

/** The same in plain JavaScript: what the compiled one is tested against. */
export function scanInPlainJavaScript(vectors: Int8Array, count: number, query: Int8Array): Int32Array {
  const out = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    let sum = 0;
    for (let j = 0; j < query.length; j += 1) sum += (vectors[i * query.length + j] ?? 0) * (query[j] ?? 0);
    out[i] = sum;
  }
  return out;
}
