/** Presses buttons and chooses from menus by their exact names. */
import type { Locator, Page } from 'playwright-core';

/**
 * `within`: the page, or the dialog that has the button. Without the dialog, a button of the page with the same name is
 * found while the dialog is not drawn yet, and then the dialog covers it.
 */
export function press(within: Page | Locator, name: string | RegExp): Promise<void> {
  return within.getByRole('button', { name, exact: true }).click();
}

/** Opens the menu of a button, which has the button's name, and chooses an item. */
export async function choose(within: Page | Locator, trigger: string, item: string): Promise<void> {
  await press(within, trigger);
  const menu = within.getByRole('menu', { name: trigger, exact: true });
  await menu.getByRole('menuitem', { name: item, exact: true }).click();
}
