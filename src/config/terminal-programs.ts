/** The programs that a person reads and writes with, as the environment names them. */
interface TerminalPrograms {
  /** With its arguments; undefined if none is named. */
  editor: string[] | undefined;
  pager: string[] | undefined;
  browser: string[] | undefined;
}

export function terminalPrograms(
  env: Readonly<Record<string, string | undefined>> = process.env,
): TerminalPrograms {
  return {
    editor: words(env.VISUAL) ?? words(env.EDITOR),
    pager: words(env.PAGER),
    browser: words(env.BROWSER),
  };
}

function words(text: string | undefined): string[] | undefined {
  const found = text?.trim().split(/\s+/) ?? [];
  return found[0] ? found : undefined;
}
