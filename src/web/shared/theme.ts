import { useState } from 'preact/hooks';

const KEY = 'citeloop.theme';
export type Theme = 'system' | 'light' | 'dark';

/** Shows the theme that was chosen before. Called before anything is drawn, so that the page never flashes. */
export function applyTheme(): void {
  apply(chosenTheme());
}

/** Light or dark by choice, or as the system has it. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  return [
    theme,
    (chosen) => {
      apply(chosen);
      keep(chosen);
      setTheme(chosen);
    },
  ];
}

/** What is seen, whoever chose it. */
export function isDark(theme: Theme): boolean {
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

/** Where the browser does not let a page keep anything, the choice holds until the page is closed. */
function keep(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {}
}
