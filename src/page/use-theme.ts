import { useLayoutEffect, useState } from 'preact/hooks';

const KEY = 'citeloop.theme';
export type Theme = 'system' | 'light' | 'dark';

/** Light or dark by choice, or as the system has it. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => (localStorage.getItem(KEY) as Theme | null) ?? 'system');
  useLayoutEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem(KEY, theme);
  }, [theme]);
  return [theme, setTheme];
}
