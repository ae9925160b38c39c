import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Starts a program with an inspector, to measure its heap. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** The inspector URL that a program prints on stderr. Call this right after starting it. */
export function inspectorOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    stderr?.on('data', (text: string) => {
      said += text;
      const address = /ws:\/\/\S+/.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    });
  });
}

/** The heap size in bytes after garbage collection. */
export async function settledHeap(inspector: string): Promise<number> {
  const socket = new WebSocket(inspector);
  await once(socket, 'open');
  try {
    await call(socket, 'HeapProfiler.collectGarbage');
    await call(socket, 'HeapProfiler.collectGarbage');
    const { usedSize } = await call(socket, 'Runtime.getHeapUsage');
    return Number(usedSize);
  } finally {
    socket.close();
  }
}

async function call(socket: WebSocket, method: string): Promise<Record<string, unknown>> {
  socket.send(JSON.stringify({ id: 1, method }));
  for (;;) {
    const [message] = (await once(socket, 'message')) as [{ data: string }];
    const { id, result } = JSON.parse(message.data);
    if (id === 1) return result;
  }
}
