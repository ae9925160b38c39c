/** Each is a program and its arguments. */
export function readTerminalPrograms(env: Readonly<Record<string, string | undefined>> = process.env) {
  return {
    editor: words(env.VISUAL) ?? words(env.EDITOR),
    pager: words(env.PAGER) ?? ['less'],
    browser: words(env.BROWSER),
  };
}

function words(text: string | undefined): string[] | undefined {
  const found = text?.trim().split(/\s+/) ?? [];
  return found[0] ? found : undefined;
}
