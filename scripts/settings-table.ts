import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type SettingName, settingNames, settings, settingVariables } from '../src/config/settings.ts';
import { agentConfigSchema } from '../src/domain/agent-config.ts';
import { OFFLINE_DEFAULTS } from '../src/domain/choices.ts';

/** Where the table stands in docs/settings.md. */
const BEGIN = '<!-- made by scripts/settings-table.ts -->';
const END = '<!-- end -->';
/** The same for all arms of a comparison, or a list. */
const NOT_IN_ARMS = new Set(['collection', 'abstentionPhrases', 'verbose']);
const LONGEST_DEFAULT = 40;
const FILE = fileURLToPath(new URL('../docs/settings.md', import.meta.url));

/** Every setting with what it may be, its default and the variable that gives it, as the schemas say. */
export function settingsTable(): string {
  const ofAgent = new Set(
    Object.keys(agentConfigSchema.def.innerType.shape).filter((name) => !NOT_IN_ARMS.has(name)),
  );
  const variables = new Map<SettingName, string>(
    Object.entries(settingVariables).map(([variable, name]) => [name, variable]),
  );
  const rows = settingNames.map((name) => {
    const variable = variables.get(name);
    const cells = [
      `\`${name}\``,
      (settings[name].description ?? '').replace(/</g, '&lt;'),
      defaultOf(name),
      variable === undefined ? '' : `\`${variable}\``,
      ofAgent.has(name) || name === 'rerank' ? 'yes' : '',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| setting | is | default | environment | in an arm |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function defaultOf(name: SettingName): string {
  const schema: z.ZodType = settings[name];
  if (!(schema instanceof z.ZodDefault)) return '';
  const text = JSON.stringify(schema.def.defaultValue);
  if (text.length > LONGEST_DEFAULT) return 'a text of ours';
  const offline = Object.entries(OFFLINE_DEFAULTS).find(([setting]) => setting === name)?.[1];
  return `\`${text}\`${offline === undefined ? '' : `; offline \`${JSON.stringify(offline)}\``}`;
}

/** The document with the table of today in it. */
export function withTable(document: string): string {
  const [before = ''] = document.split(BEGIN);
  const [, after = ''] = document.split(END);
  return `${before}${BEGIN}\n\n${settingsTable()}\n\n${END}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(FILE, withTable(readFileSync(FILE, 'utf8')));
}
