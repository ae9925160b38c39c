import { type Config, loadConfig } from '../../config/load-config.ts';
import { type SettingName, settingNames } from '../../config/settings.ts';
import { keepSetting, settingNamed } from '../../config/user-settings.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { table } from '../terminal/table.ts';
import { createTerminal } from '../terminal/terminal.ts';

export interface SettingFlags extends CommonFlags {
  setting?: string | undefined;
  value?: string | undefined;
}

/** A setting as it holds now, and where it comes from. */
interface EffectiveSetting {
  name: SettingName;
  value: unknown;
  origin: string;
}

const DEFAULT = 'default';

/** Those that have a value, in the order of their names. */
export function effectiveSettings({ agent, home, given, origins }: Config): EffectiveSetting[] {
  const defaults: Partial<Record<string, unknown>> = { ...agent, home };
  return settingNames.toSorted().flatMap((name) => {
    const value = given[name] ?? defaults[name];
    return value === undefined ? [] : [{ name, value, origin: origins[name] ?? DEFAULT }];
  });
}

export function listSettings({ config: configPath, json }: CommonFlags): void {
  const config = loadConfig({ configPath });
  const found = effectiveSettings(config);
  if (json) return void print({ settings: found, file: config.settingsFile });
  const terminal = createTerminal(process.stdout);
  const rows = found.map(({ name, value, origin }) => [name, oneLine(shown(value), 40), origin]);
  terminal.write(table(terminal, ['setting', 'value', 'from'], rows));
}

export function getSetting({ setting = '', config: configPath, json }: SettingFlags): void {
  const name = settingNamed(setting);
  const found = effectiveSettings(loadConfig({ configPath })).find((each) => each.name === name);
  if (json) return void print(found ?? { name, value: null, origin: DEFAULT });
  const terminal = createTerminal(process.stdout);
  if (found !== undefined) terminal.write(`${terminal.text(shown(found.value))}\n`);
}

/** Says so where something stronger than the user's file hides what was kept there. */
export async function setSetting({
  setting = '',
  value,
  config: configPath,
  json,
}: SettingFlags): Promise<void> {
  const name = settingNamed(setting);
  const { settingsFile } = loadConfig({ configPath });
  const kept = await keepSetting(settingsFile, name, value ?? null);
  const now = effectiveSettings(loadConfig({ configPath })).find((each) => each.name === name);
  if (json) return void print({ name, value: kept ?? null, file: settingsFile });
  const terminal = createTerminal(process.stdout);
  const done = kept === undefined ? `${name} is forgotten in` : `${name} is ${shown(kept)} in`;
  terminal.write(`${terminal.text(`${done} ${settingsFile}`)}\n`);
  if (now === undefined || now.origin === DEFAULT || now.origin.startsWith(settingsFile)) return;
  const stronger = createTerminal(process.stderr);
  stronger.write(`${stronger.text(`Here it is ${shown(now.value)} all the same, by ${now.origin}.`)}\n`);
}

export function printSettingsPath({ config: configPath, json }: CommonFlags): void {
  const { settingsFile } = loadConfig({ configPath });
  if (json) print({ file: settingsFile });
  else process.stdout.write(`${settingsFile}\n`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
