import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Lets a program tell, through its inspector, how much memory its objects really take up. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** Where the inspector of a program listens, as it says on stderr when it starts. Ask before it can have said so. */
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

/** Bytes in use after all garbage was collected. */
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
