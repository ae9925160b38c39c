import type { AddressInfo, Server as NetServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a server on a free local port; it is closed with its connections when the running test ends. */
export async function listenForTest(
  server: NetServer & { closeAllConnections?: () => void },
): Promise<{ port: number; origin: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}` };
}
