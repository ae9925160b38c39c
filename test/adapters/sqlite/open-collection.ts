/** A process that opens the collection `old` for writing, which upgrades it, and prints the upgrades as JSON. */
import { writeSync } from 'node:fs';
import { createSqliteCatalog } from '../../../src/adapters/sqlite/sqlite-catalog.ts';
import { OLD_IDENTITY } from './old-collections.ts';

const [, , directory = ''] = process.argv;
const upgrades: unknown[] = [];
const catalog = createSqliteCatalog(directory, { onUpgrade: (upgrade) => upgrades.push(upgrade) });
writeSync(1, 'opening\n');
await (await catalog.openOrCreate('old', OLD_IDENTITY)).close();
writeSync(1, JSON.stringify(upgrades));
