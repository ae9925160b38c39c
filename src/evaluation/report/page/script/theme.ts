/// <reference lib="dom" />

/**
 * Keeps the chosen theme, where the browser lets a page keep anything; the system's is used until one is chosen.
 * Runs in the page, before anything is drawn: it may use nothing from outside itself.
 */
export function theme(): void {
  const KEY = 'citeloop-report-theme';
  const root = document.documentElement;
  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };
  const current = () =>
    root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

  const kept = stored();
  if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
  document.addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector<HTMLButtonElement>('#theme');
    if (button === null) return;
    const name = () => {
      button.textContent = current() === 'dark' ? 'Light' : 'Dark';
      button.setAttribute('aria-label', `Switch to the ${current() === 'dark' ? 'light' : 'dark'} theme`);
    };
    button.hidden = false;
    name();
    button.addEventListener('click', () => {
      root.dataset.theme = current() === 'dark' ? 'light' : 'dark';
      try {
        localStorage.setItem(KEY, root.dataset.theme);
      } catch {
        // It holds until the page is closed.
      }
      name();
    });
  });
}
