import { AppError, messageOf } from '../faults/app-error.ts';
import { writeFileAtomic } from '../files/write-file-atomic.ts';
import { parseJson } from '../text/parse-json.ts';
import { readConfigFile, throwUnknownSetting, toKebabCase } from './collect-settings.ts';
import { parseValue } from './parse-value.ts';
import { parseSettingText, type SettingName, settingNames, settingSchemas } from './settings.ts';

/** Accepts `topK` and `top-k`. Throws `invalid_input` with the nearest setting. */
export function toSettingName(name: string): SettingName {
  return (
    settingNames.find((known) => known === name || toKebabCase(known) === name) ??
    throwUnknownSetting(name, 'Unknown setting', 'invalid_input')
  );
}

/** Saves a setting in the user's file, or removes it if the text is null. Returns the parsed value. */
export async function saveSetting(path: string, name: SettingName, text: string | null): Promise<unknown> {
  const { [name]: _, ...others } = readConfigFile(path) ?? {};
  const value = text === null ? undefined : parseSetting(name, text);
  const fields = value === undefined ? others : { ...others, [name]: value };
  try {
    await writeFileAtomic(path, `${JSON.stringify(fields, null, 2)}\n`);
  } catch (error) {
    throw new AppError('configuration_error', `Cannot write ${path}: ${messageOf(error)}.`, {
      hint: 'Check its permissions, or set XDG_CONFIG_HOME to another directory.',
      cause: error,
    });
  }
  return value;
}

function parseSetting(name: SettingName, text: string): unknown {
  const value = text.trimStart().startsWith('{') ? (parseJson(text) ?? text) : parseSettingText(name, text);
  return parseValue(settingSchemas[name], value, { subject: name, kind: 'invalid_input' });
}
