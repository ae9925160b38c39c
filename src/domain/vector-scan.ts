/** The assembled vector-scan.wat: 230 bytes of WebAssembly SIMD. */
const BINARY =
  'AGFzbQEAAAABCQFgBX9/f39/AAMCAQAFAwEAAQcRAgZtZW1vcnkCAARzY2FuAAAKtAEBsQECBH8DeyAAIQcCQANAIAUgAU4NASADIQggByACaiEG/QwAAAAAAAAAAAAAAAAAAAAAIQkDQCAH/QAEACEKIAj9AAQAIQsgCSAK/YcBIAv9hwH9ugH9rgEhCSAJIAr9iAEgC/2IAf26Af2uASEJIAhBEGohCCAHQRBqIQcgByAGSQ0ACyAEIAVBAnRqIAn9GwAgCf0bAWogCf0bAiAJ/RsDamo2AgAgBUEBaiEFDAALCws=';

/** The size of a WebAssembly memory page. */
const PAGE_BYTES = 65_536;

/** The part of WebAssembly that is used here, which Node's types leave out. */
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

interface VectorScan {
  /** The memory, grown to at least `size` bytes. Views made before it grew are no longer valid. */
  memory(size: number): ArrayBuffer;
  /**
   * Writes the dot products of `count` vectors with the query to `out`. Arguments are byte offsets into the memory,
   * except `count` and `dimensions` (a multiple of 16).
   */
  scan(vectors: number, count: number, dimensions: number, query: number, out: number): void;
}

/** Computes dot products of one-byte vectors. */
export function createVectorScan(): VectorScan {
  const module = new WebAssembly.Module(Buffer.from(BINARY, 'base64'));
  const { memory, scan } = new WebAssembly.Instance(module).exports as {
    memory: WebAssembly.Memory;
    scan: VectorScan['scan'];
  };
  return {
    memory(size) {
      const missing = Math.ceil((size - memory.buffer.byteLength) / PAGE_BYTES);
      if (missing > 0) memory.grow(missing);
      return memory.buffer;
    },
    scan,
  };
}
