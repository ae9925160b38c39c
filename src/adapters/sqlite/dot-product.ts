/** dot-product.wat, assembled by `npm run build:dot-product`: 230 bytes of WebAssembly SIMD. */
const BINARY =
  'AGFzbQEAAAABCQFgBX9/f39/AAMCAQAFAwEAAQcRAgZtZW1vcnkCAARzY2FuAAAKtAEBsQECBH8DeyAAIQcCQANAIAUgAU4NASADIQggByACaiEG/QwAAAAAAAAAAAAAAAAAAAAAIQkDQCAH/QAEACEKIAj9AAQAIQsgCSAK/YcBIAv9hwH9ugH9rgEhCSAJIAr9iAEgC/2IAf26Af2uASEJIAhBEGohCCAHQRBqIQcgByAGSQ0ACyAEIAVBAnRqIAn9GwAgCf0bAWogCf0bAiAJ/RsDamo2AgAgBUEBaiEFDAALCws=';

/** Memory grows by this many bytes at a time. */
const GROWTH = 65_536;

/** The little of WebAssembly that is used here; Node's own types leave it out. */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(times: number): number;
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
type Scan = (vectors: number, count: number, dimensions: number, query: number, out: number) => void;

interface DotProduct {
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
      const missing = Math.ceil((size - memory.buffer.byteLength) / GROWTH);
      if (missing > 0) memory.grow(missing);
      return memory.buffer;
    },
    scan,
  };
}
