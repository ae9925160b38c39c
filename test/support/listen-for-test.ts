import type { AddressInfo, Server as NetServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** Has a server listen on a free port of this machine until the running test ends, whoever is still connected then. */
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
