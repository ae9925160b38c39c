import { AppError, messageOf } from '../faults/app-error.ts';
import { writeFileAtomic } from '../files/write-file-atomic.ts';
import { readConfigFile, refuseField } from './collect-settings.ts';
import { checkedValue } from './read-value.ts';
import { fromText, type SettingName, settingNames, settings } from './settings.ts';

/** The setting of this name. Throws `invalid_input` with what was probably meant. */
export function settingNamed(name: string): SettingName {
  return (
    settingNames.find((known) => known === name) ??
    settingNames.find((known) => kebab(known) === name) ??
    refuseField(name, 'There is no setting of this name', 'invalid_input')
  );
}

/** Keeps a setting in the user's file, or forgets it there where the value is null. Returns what is kept. */
export async function keepSetting(path: string, name: SettingName, text: string | null): Promise<unknown> {
  const { [name]: _, ...others } = readConfigFile(path, 'configuration_error') ?? {};
  const value = text === null ? undefined : readSetting(name, text);
  await write(path, value === undefined ? others : { ...others, [name]: value });
  return value;
}

function readSetting(name: SettingName, text: string): unknown {
  const value = text.trimStart().startsWith('{') ? parsed(text) : fromText(name, text);
  return checkedValue(settings[name], value, { subject: name, kind: 'invalid_input' });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function write(path: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await writeFileAtomic(path, `${JSON.stringify(fields, null, 2)}\n`);
  } catch (error) {
    throw new AppError('configuration_error', `${path} cannot be written: ${messageOf(error)}.`, {
      hint: 'Check its permissions, or set XDG_CONFIG_HOME to a directory of yours.',
      cause: error,
    });
  }
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
