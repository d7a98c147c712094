/** Owns joining class names. */

/** Those that are texts, with spaces between. */
export function classNames(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
