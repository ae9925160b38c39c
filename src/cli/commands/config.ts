import { existsSync, readFileSync } from 'node:fs';
import { type AppConfig, loadConfig } from '../../config/load-config.ts';
import { settingNames } from '../../config/settings.ts';
import { saveSetting, toSettingName } from '../../config/user-settings.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { CommonFlags, FlagValues } from '../flags/common-flags.ts';
import { formatTable } from '../terminal/format-table.ts';
import { createTerminal, printJson } from '../terminal/terminal.ts';

export interface SettingFlags extends CommonFlags, FlagValues<'setting' | 'value', string> {}

const DEFAULT_ORIGIN = 'default';

/** Every setting that has a value, sorted by name. */
export function effectiveSettings({ agent, home, given, origins }: AppConfig) {
  // Without a chosen collection, the one that was used last is opened.
  const defaults: Partial<Record<string, unknown>> = { ...agent, collection: undefined, home };
  return settingNames.toSorted().flatMap((name) => {
    const value = given[name] ?? defaults[name];
    return value === undefined ? [] : [{ name, value, origin: origins[name] ?? DEFAULT_ORIGIN }];
  });
}

export function listSettings({ config: configPath, json }: CommonFlags): void {
  const config = loadLeniently(configPath);
  const { untrusted, settingsFile: file } = config;
  const settings = effectiveSettings(config);
  if (json) return void printJson({ settings, untrusted, file });
  const terminal = createTerminal(process.stdout);
  const ignored = untrusted.map(({ origin, ...each }) => ({ ...each, origin: `not trusted: ${origin}` }));
  const rows = [...settings, ...ignored].map(({ name, value, origin }) => [
    name,
    oneLine(formatValue(value), 40),
    origin,
  ]);
  terminal.write(formatTable(terminal, ['setting', 'value', 'source'], rows));
}

export function getSetting({ setting = '', config: configPath, json }: SettingFlags): void {
  const name = toSettingName(setting);
  const found = effectiveSettings(loadLeniently(configPath)).find((each) => each.name === name);
  if (json) return void printJson(found ?? { name, value: null, origin: DEFAULT_ORIGIN });
  const terminal = createTerminal(process.stdout);
  if (found !== undefined) terminal.write(`${terminal.text(formatValue(found.value))}\n`);
}

/** Saves a setting, or removes it if no value is given. Warns if another source overrides it. */
export async function saveOrRemoveSetting({
  setting = '',
  value,
  config: configPath,
  json,
}: SettingFlags): Promise<void> {
  const name = toSettingName(setting);
  const { settingsFile } = loadLeniently(configPath);
  const wasSaved = existsSync(settingsFile) && readFileSync(settingsFile, 'utf8').includes(`"${name}":`);
  const saved = await saveSetting(settingsFile, name, value ?? null);
  const current = effectiveSettings(loadLeniently(configPath)).find((each) => each.name === name);
  if (json) return void printJson({ name, value: saved ?? null, file: settingsFile });
  const done =
    saved === undefined
      ? `${wasSaved ? `Removed ${name} from` : `${name} is not set in`} ${settingsFile}`
      : `Set ${name} to ${formatValue(saved)} in ${settingsFile}`;
  const terminal = createTerminal(process.stdout);
  terminal.write(`${terminal.text(done)}\n`);
  const { origin = DEFAULT_ORIGIN, value: active } = current ?? {};
  if (origin === DEFAULT_ORIGIN || origin.startsWith(settingsFile)) return;
  const stderr = createTerminal(process.stderr);
  stderr.write(`${stderr.text(`Overridden here: ${formatValue(active)} (${origin}).`)}\n`);
}

/** Without the settings that are not trusted. */
function loadLeniently(configPath: string | undefined): AppConfig {
  return loadConfig({ configPath, whenUntrusted: 'ignore' });
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
