import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { downloadPackageFiles } from '../../../src/adapters/onnx/fetch-package.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

async function startRegistry() {
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { requests, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

test('npm does not read an .npmrc beside its temporary directory', async () => {
  const [user, foreign] = [await startRegistry(), await startRegistry()];
  const temporary = await createTemporaryDirectory();
  await writeFile(join(temporary, 'package.json'), '{}');
  await mkdir(join(temporary, 'node_modules'));
  await writeFile(join(temporary, '.npmrc'), `registry=${foreign.address}\n`);
  const settings = join(await createTemporaryDirectory(), 'npmrc');
  await writeFile(settings, `registry=${user.address}\n`);
  vi.stubEnv('TMPDIR', temporary);
  vi.stubEnv('npm_config_userconfig', settings);
  for (const name of ['npm_config_registry', 'NPM_CONFIG_REGISTRY', 'NPM_CONFIG_USERCONFIG'])
    vi.stubEnv(name, undefined);
  onTestFinished(() => void vi.unstubAllEnvs());

  const download = downloadPackageFiles({ name: 'no-such-package@1.0.0', bytes: 1 }, 'package', ['a'], {});
  await expect(download).rejects.toThrow('404');
  expect(foreign.requests).toEqual([]);
  expect(user.requests).toContain('/no-such-package');
});
