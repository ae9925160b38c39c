import { useState } from 'preact/hooks';

const THEME_KEY = 'citeloop.theme';
export type ThemeName = 'system' | 'light' | 'dark';

/** Applies the stored theme. Call it before the first paint, so that the page does not flash. */
export function applyTheme(): void {
  setDocumentTheme(storedTheme());
}

export function useTheme(): [ThemeName, (theme: ThemeName) => void] {
  const [theme, setTheme] = useState<ThemeName>(storedTheme);
  return [
    theme,
    (selected) => {
      setDocumentTheme(selected);
      storeTheme(selected);
      setTheme(selected);
    },
  ];
}

/** Whether the page is currently dark, by the theme or by the system. */
export function isDarkTheme(theme: ThemeName): boolean {
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}

function setDocumentTheme(theme: ThemeName): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function storedTheme(): ThemeName {
  try {
    const stored = localStorage.getItem(THEME_KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

/** Without access to storage, the theme lasts until the page is closed. */
function storeTheme(theme: ThemeName): void {
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {}
}
