/** The programs that a person reads and writes with, as the environment names them. */
interface TerminalPrograms {
  /** With its arguments; undefined if none is named. */
  editor: string[] | undefined;
  pager: string[];
  /** What it runs with: `less` shows colours, leaves the text on the screen, and says how one gets on and back. */
  pagerEnvironment: Record<string, string | undefined>;
  browser: string[] | undefined;
}

export function terminalPrograms(
  env: Readonly<Record<string, string | undefined>> = process.env,
): TerminalPrograms {
  return {
    editor: words(env.VISUAL) ?? words(env.EDITOR),
    pager: words(env.PAGER) ?? ['less'],
    pagerEnvironment: { LESS: 'FRXPsSpace\\: on, q\\: back$', ...env },
    browser: words(env.BROWSER),
  };
}

function words(text: string | undefined): string[] | undefined {
  const found = text?.trim().split(/\s+/) ?? [];
  return found[0] ? found : undefined;
}
