/** Validates the name of the first workspace: it is an id, used in addresses and commands. */

export const FIRST_WORKSPACE = 'default';

/** Error message for a name that is not a valid id; null when valid. The gateway uses the same pattern. */
export function workspaceFault(text: string): string | null {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) return null;
  if (text === '') return 'Enter a name, such as default.';
  return 'Use up to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit.';
}
