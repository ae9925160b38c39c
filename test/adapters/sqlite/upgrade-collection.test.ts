import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { COLLECTION_FORMAT } from '../../../src/adapters/sqlite/collection-file.ts';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import type { ChunkRecord, ChunkStore } from '../../../src/ports/chunk-store.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { createOldCollection, inspectCollection, OLD_IDENTITY } from './old-collections.ts';
import { withoutPrivileges } from './without-privileges.ts';

const CURRENT = COLLECTION_FORMAT.version;
const OWLS = sampleDocument('a', 8, { chunks: ['owls hunt'] });

async function findText(store: ChunkStore, text: string) {
  return (await store.search({ text, vector: null, limit: 1, filter: {} }))[0]?.chunk;
}

/** Opens the collection in another process; `ended` has the upgrades that it reported. */
function startOpening(directory: string) {
  const script = join(import.meta.dirname, 'open-collection.ts');
  const child = endWithParent(
    spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let output = '';
  const opening = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      resolve();
    });
  });
  const ended = once(child, 'close').then(() => output.split('\n')[1] ?? '');
  return { child, opening, ended };
}

test('upgrades a collection of format 1, keeps the old file and says so once', async () => {
  const directory = await createTemporaryDirectory();
  const path = await createOldCollection(directory, 1, [OWLS]);
  const upgrades: unknown[] = [];
  const catalog = createSqliteCatalog(directory, { onUpgrade: (upgrade) => upgrades.push(upgrade) });

  const store = (await catalog.open('old')) as ChunkStore;
  expect(await findText(store, 'owls')).toMatchObject({ text: 'owls hunt' });
  expect((await findText(store, 'owls'))?.location).toBeUndefined();
  const location = { unit: 'page' as const, from: 2, to: 3 };
  const next = sampleDocument('b', 8, { chunks: ['newts swim'] });
  await store.write([{ ...next, chunks: [{ ...(next.chunks[0] as ChunkRecord), location }] }]);
  expect((await findText(store, 'newts'))?.location).toEqual(location);
  expect([await store.check(), await store.damaged?.()]).toEqual([[], []]);
  await store.close();
  await (await catalog.openOrCreate('old', OLD_IDENTITY)).close();

  const backup = `${path}.v1.bak`;
  expect(upgrades).toEqual([{ path, backup }]);
  expect(inspectCollection(path)).toEqual({ version: CURRENT, documents: 2 });
  expect(inspectCollection(backup)).toEqual({ version: 1, documents: 1 });
  expect(await catalog.list()).toEqual(['old']);
  await catalog.delete('old');
  expect(existsSync(backup)).toBe(false);
});

test('upgrades a collection of format 2', async () => {
  const directory = await createTemporaryDirectory();
  await createOldCollection(directory, 2, [OWLS]);

  const store = await createSqliteCatalog(directory).openOrCreate('old', OLD_IDENTITY);
  expect(await store.info()).toMatchObject({ chunks: 1, withoutVector: 0 });
  const next = sampleDocument('b', 8, { chunks: ['newts swim'] });
  await store.write([{ ...next, chunks: next.chunks.map((chunk) => ({ ...chunk, vector: null })) }]);
  expect(await store.info()).toMatchObject({ chunks: 2, withoutVector: 1 });
  expect([await store.check(), await store.damaged?.()]).toEqual([[], []]);
  await store.close();
});

test('reads a collection of format 3 without changing it and upgrades it on the first write', async () => {
  const directory = await createTemporaryDirectory();
  const path = await createOldCollection(directory, 3, [OWLS]);
  const before = readFileSync(path);
  const catalog = createSqliteCatalog(directory);
  await withoutPrivileges(directory, async () => {
    const store = (await catalog.open('old')) as ChunkStore;
    expect(await findText(store, 'owls')).toMatchObject({ text: 'owls hunt' });
    const hashes = OWLS.chunks.map(({ contentHash }) => contentHash);
    expect((await store.vectors(hashes)).size).toBe(1);
    expect([await store.check(), await store.damaged?.()]).toEqual([[], []]);
    await store.close();
  });
  expect(readFileSync(path).equals(before)).toBe(true);

  const store = (await catalog.open('old')) as ChunkStore;
  await store.write([sampleDocument('b', 8, { chunks: ['newts swim'] })]);
  expect(await findText(store, 'newts')).toMatchObject({ text: 'newts swim' });
  expect([await store.check(), await store.damaged?.()]).toEqual([[], []]);
  await store.close();
  expect(inspectCollection(path)).toEqual({ version: CURRENT, documents: 2 });
  expect(inspectCollection(`${path}.v3.bak`)).toEqual({ version: 3, documents: 1 });
});

test('an upgrade that is killed leaves the old file, or the new one and its backup', async () => {
  const directory = await createTemporaryDirectory();
  const documents = Array.from({ length: 400 }, (_, index) =>
    sampleDocument(`d${index}`, 8, { chunks: Array.from({ length: 10 }, (_, at) => `owl ${index} ${at}`) }),
  );
  const path = await createOldCollection(directory, 1, documents);
  const backup = `${path}.v1.bak`;
  const original = `${path}.original`;
  cpSync(path, original);
  const seen = new Set<number>();
  for (let round = 0; round < 12; round += 1) {
    const { child, opening, ended } = startOpening(directory);
    await opening;
    await setTimeout(round * 15);
    child.kill('SIGKILL');
    await ended;
    const { version, documents } = inspectCollection(path);
    seen.add(version);
    expect(documents).toBe(400);
    expect([1, CURRENT]).toContain(version);
    if (version === CURRENT || existsSync(backup)) {
      expect(inspectCollection(backup)).toEqual({ version: 1, documents: 400 });
    }
    if (version === 1) continue;
    for (const suffix of ['', '-wal', '-shm', '.v1.bak']) rmSync(`${path}${suffix}`, { force: true });
    cpSync(original, path);
  }
  expect(seen).toContain(1);
  await startOpening(directory).ended;
  expect(inspectCollection(path)).toEqual({ version: CURRENT, documents: 400 });
  expect(existsSync(`${backup}.partial`)).toBe(false);
});

test('two processes that open an old collection at once upgrade it once', async () => {
  const directory = await createTemporaryDirectory();
  const path = await createOldCollection(directory, 1, [OWLS]);
  const outputs = await Promise.all([0, 1, 2].map(() => startOpening(directory).ended));
  expect(outputs.flatMap((output) => JSON.parse(output))).toEqual([{ path, backup: `${path}.v1.bak` }]);
  expect(inspectCollection(path)).toEqual({ version: CURRENT, documents: 1 });
});
