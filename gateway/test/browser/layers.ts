/**
 * Lists everything that opens over the console's pages (dialogs, sheets, menus), and how a user with all permissions
 * opens each.
 */
import type { Page } from 'playwright-core';
import { PASSWORD } from '../console-api/api-visitor.ts';
import type { PageNames } from './console-pages.ts';

export interface Layer {
  /** Accessible name of the dialog or menu. */
  readonly name: string | RegExp;
  readonly role: 'dialog' | 'menu';
  path(names: PageNames): string;
  open(page: Page, isNarrow: boolean): Promise<void>;
}

type Step = (page: Page) => Promise<void>;

/** Presses a button of the page, or of the open dialog. */
function press(name: string | RegExp): Step {
  return (page) => page.getByRole('button', { name, exact: true }).last().click();
}

function choose(trigger: string, item: string): Step {
  return async (page) => {
    await press(trigger)(page);
    await page.getByRole('menuitem', { name: item }).click();
  };
}

function openRow(table: string, name: string | RegExp): Step {
  return (page) => page.getByRole('table', { name: table }).getByRole('row', { name }).first().click();
}

function steps(...all: readonly Step[]): Step {
  return async (page) => {
    for (const step of all) await step(page);
  };
}

/** Types into the last element of that name: a form may have the name of its field. */
const type =
  (label: string, text: string): Step =>
  (page) =>
    page.getByRole('dialog').getByLabel(label, { exact: true }).last().fill(text);
const hit =
  (keys: string): Step =>
  (page) =>
    page.keyboard.press(keys);

function layer(path: string | Layer['path'], name: Layer['name'], open: Layer['open']): Layer {
  return { name, role: 'dialog', path: typeof path === 'string' ? () => path : path, open };
}

function menu(path: string, name: string, open: Layer['open'] = press(name)): Layer {
  return { ...layer(path, name, open), role: 'menu' };
}

const KEY = 'billing-api';
const OF_KEY = `More about ${KEY}`;
const PROVIDER = 'backup-lab';
const OF_PROVIDER = `More about ${PROVIDER}`;
const MEMBER = 'The developer of default';
const OF_MEMBER = `What to do with ${MEMBER}`;

export const LAYERS: readonly Layer[] = [
  layer('/app', 'Go to a page, a key or a call', hit('Control+k')),
  layer('/app', 'Keyboard', hit('?')),
  menu('/app', 'Ada Lovelace', async (page, isNarrow) => {
    if (isNarrow) await press('Pages')(page);
    await press(/Ada Lovelace$/)(page);
  }),
  layer('/app/usage', 'Range of time', press('Custom')),
  layer('/app/usage', 'Filter', press('Filter')),
  layer('/app/usage', 'Usage against the ledger', press('Does it equal the ledger?')),
  layer('/app/logs', 'Filter', press('Filter')),
  layer(
    ({ request }) => `/app/logs/${request}`,
    /./,
    async () => undefined,
  ),
  menu('/app/keys', OF_KEY),
  layer('/app/keys', 'Create key', press('Create key')),
  layer(
    '/app/keys',
    'from the console is ready',
    steps(press('Create key'), type('Name', 'from the console'), hit('Enter')),
  ),
  layer('/app/keys', `Edit ${KEY}`, choose(OF_KEY, 'Edit…')),
  layer('/app/keys', `Rotate ${KEY}`, choose(OF_KEY, 'Rotate…')),
  layer('/app/keys', `Duplicate ${KEY}`, choose(OF_KEY, 'Duplicate…')),
  layer('/app/keys', `Revoke ${KEY}`, choose(OF_KEY, 'Revoke…')),
  layer('/app/limits', /^Limits of/, openRow('Limits of the account, its workspaces and keys', KEY)),
  layer('/app/limits', 'New rule of an end user', press('Add end user')),
  layer('/app/models', 'GPT-5', openRow('Models', /^gpt-5\b/)),
  layer('/app/models', 'Set a price', steps(openRow('Models', /^gpt-5\b/), press('Set a price'))),
  layer('/app/playground', 'As code', press('As code')),
  layer('/app/playground', 'Make a key for the playground', press('Make a key for it')),
  menu('/app/providers', OF_PROVIDER),
  layer('/app/providers', 'Add provider', press('Add provider')),
  layer('/app/providers', `Replace the credential of ${PROVIDER}`, choose(OF_PROVIDER, 'Replace credential')),
  layer('/app/providers', `Replace the models of ${PROVIDER}`, choose(OF_PROVIDER, 'Replace models')),
  layer('/app/providers', `Remove ${PROVIDER}?`, choose(OF_PROVIDER, 'Remove provider')),
  layer('/app/workspaces', 'Create workspace', press('Create workspace')),
  layer('/app/workspaces', 'research', openRow('Workspaces', 'research')),
  menu('/app/members', OF_MEMBER),
  layer('/app/members', MEMBER, choose(OF_MEMBER, 'Change the rights…')),
  layer('/app/members', `Remove ${MEMBER}?`, choose(OF_MEMBER, 'Remove from the account…')),
  layer('/app/members', `A new password for ${MEMBER}?`, choose(OF_MEMBER, 'Link to a new password…')),
  layer('/app/members', 'Invite somebody', press('Invite somebody')),
  layer(
    '/app/members',
    'Hand over this link',
    steps(press('Invite somebody'), type('E-mail', 'grace@example.com'), press('Create the invitation')),
  ),
  layer('/app/members', 'Take the invitation back?', press('Take back the invitation of linus@example.com')),
  layer('/app/billing', 'Top up default', press('Top up')),
  layer('/app/billing', 'Correct default', press('Correct…')),
  layer('/app/billing', 'Statement CSV', press('Statement CSV')),
  layer('/app/billing', 'Create account', press('Create account')),
  layer('/app/billing', 'default', openRow('Accounts', 'default')),
  layer('/app/audit', /./, openRow('Audit', /keys\.create/)),
  layer('/app/me', 'Set up a second factor', press('Set up…')),
  layer(
    '/app/me',
    'Add it to your authenticator app',
    steps(press('Set up…'), type('Password', PASSWORD), press('Go on')),
  ),
];
