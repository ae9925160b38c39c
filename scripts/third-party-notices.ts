import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface PackageJson {
  name: string;
  version: string;
  license?: string;
}

/** The names, versions and licence texts of the packages that the given modules are from, sorted by name. */
export function thirdPartyNotices(moduleIds: readonly string[]): string {
  const directories = new Set(
    moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace('\0', ''))?.[0] ?? []),
  );
  const notices = [...directories].map(noticeFor).sort();
  return `citeloop includes code of these packages:\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/** Throws if a package ships no licence text and does not name its licence. */
function noticeFor(directory: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as PackageJson;
  const [file] = globSync('{licen[cs]e,LICEN[CS]E,Licen[cs]e,COPYING}*', { cwd: directory });
  if (file === undefined && license === undefined) throw new Error(`${name} has no licence.`);
  const text = file === undefined ? '' : `\n${readFileSync(join(directory, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license ?? 'see below'})\n${text}`;
}
