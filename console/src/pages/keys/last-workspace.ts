/** Chooses the default workspace of a new key: the last one used in this browser, else `default`. */

const place = (account: string) => `tollgate.last-workspace.${account}`;

export function readLastWorkspace(account: string): string | null {
  return localStorage.getItem(place(account));
}

export function keepLastWorkspace(account: string, workspace: string): void {
  localStorage.setItem(place(account), workspace);
}

/**
 * The first workspace is used only when a member may use neither the last one nor `default`. Empty when there is none.
 */
export function usualWorkspace(workspaces: readonly string[], last: string | null): string {
  const usual = [last, 'default'].find((one) => one !== null && workspaces.includes(one));
  return usual ?? workspaces[0] ?? '';
}
