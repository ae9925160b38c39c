/** What documentation tells how to do, as headings put it, and the plain form of the verb. */
const GERUNDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'add|build|call|check|clear|connect|deploy|develop|display|download|edit|export|extend|extract|filter|find|format|import|inspect|install|launch|list|load|lock|monitor|open|pass|print|protect|publish|read|record|register|render|reset|return|select|send|show|sign|sort|start|stream|switch|sync|test|track|uninstall|upload|verify|view|watch|work with'
      .split('|')
      .map((verb) => [verb.replace(/^\w+/, (word) => `${word}ing`), verb]),
  ),
  ...Object.fromEntries(
    'activate|analyse|analyze|authenticate|change|compile|compose|configure|create|customize|declare|define|delete|disable|enable|exclude|generate|handle|include|initialize|invoke|make|manage|migrate|move|optimize|override|parse|prepare|remove|rename|replace|restore|reuse|save|serve|share|store|update|upgrade|use|validate|write'
      .split('|')
      .map((verb) => [verb.replace(/e$/, 'ing'), verb]),
  ),
  debugging: 'debug',
  getting: 'get',
  running: 'run',
  setting: 'set',
  stopping: 'stop',
  specifying: 'specify',
  modifying: 'modify',
};
const IMPERATIVES = new Set(Object.values(GERUNDS));
/** Columns that name a property, so that a row has it. */
const PROPERTY =
  /^(?:(?:default|allowed|minimum|maximum|possible|expected) )?(?:types?|defaults?|values?|versions?|platforms?|headers?|ports?|units?|range|status|size|formats?|names?|codes?|license|path|url|colou?r|priority|method|command|flag|option|alias|language|limit|price|cost|weight|length|duration|frequency|speed|year|date|country|city|author|owner|meaning|purpose|result|protocol|module|package|extension|environment variable)$/i;

/** "Uninstalling a package" and "Uninstall a package" as what somebody wants to do; null where a heading says nothing of the kind. */
export function actionOf(heading: string): string | null {
  const plain = heading
    .replace(/^(?:step )?[\d.]+[:.)]?\s+/i, '')
    .replace(/^how to /i, '')
    .trim();
  const lower = plain.toLowerCase();
  for (const [said, verb] of [...Object.entries(GERUNDS), ...[...IMPERATIVES].map((verb) => [verb, verb])]) {
    if (said === undefined || verb === undefined || !lower.startsWith(`${said} `)) continue;
    const what = plain.slice(said.length).trim();
    // "Creating" alone, or "Get started", is asked of anything.
    if (/^started\b/i.test(what) || what.length < 3) return null;
    return `${verb} ${what}`.replace(/\byour\b/g, 'my');
  }
  return null;
}

/** What a cell of a table is asked for by; null where the column names no property, or the cell no word that the row has not. */
export function questionOfCell(column: string, row: string, value: string): string | null {
  const plain = (cell: string) => cell.replace(/[`*]/g, '').trim();
  if (!PROPERTY.test(plain(column)) || plain(value).includes(plain(row))) return null;
  if (!/[\p{L}\p{N}]/u.test(value)) return null;
  const name = plain(column).toLowerCase();
  return `What ${/[^su]s$/.test(name) ? 'are' : 'is'} the ${name} for ${plain(row)}?`;
}
