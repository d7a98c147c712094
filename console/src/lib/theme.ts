/** Applies the light or dark theme: the system's, unless the user chose one on this device. */

export type ThemeChoice = 'system' | 'light' | 'dark';
const KEY = 'tollgate.theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

export function themeChoice(): ThemeChoice {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  applyTheme();
}

/** Sets the theme and follows system changes. */
export function applyTheme(): void {
  const choice = themeChoice();
  document.documentElement.dataset.theme = choice === 'system' ? (systemIsDark.matches ? 'dark' : 'light') : choice;
}

systemIsDark.addEventListener('change', applyTheme);
