/** Validates the name of the first workspace: it is an id, used in addresses and commands. */

export const FIRST_WORKSPACE = 'default';

/** Error message for a name that is not a valid id; null when valid. The gateway uses the same pattern. */
export function workspaceFault(text: string): string | null {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) return null;
  if (text === '') return 'Give it a name, such as default.';
  return `Found ${JSON.stringify(text)}; expected up to 64 lower-case letters, digits, hyphens and underscores, a letter or digit first.`;
}
