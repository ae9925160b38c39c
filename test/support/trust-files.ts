import { join } from 'node:path';
import { openTrustStore, readProjectFile } from '../../src/config/trust.ts';

/** Trusts the present content of files for a program whose CITELOOP_HOME is `home`. */
export function trustFiles(home: string, ...paths: string[]): Promise<void> {
  const files = paths.map((path) => ({ ...readProjectFile(path).file, sets: [] }));
  return openTrustStore(join(home, 'trust.json')).add(files);
}
