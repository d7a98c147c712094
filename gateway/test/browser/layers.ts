/**
 * Lists everything that opens over the console's pages (dialogs, sheets, menus), and how a user with all permissions
 * opens each.
 */
import type { Page } from 'playwright-core';
import { PASSWORD } from '../console-api/api-visitor.ts';
import type { PageNames } from './console-pages.ts';
import { choose as chooseFrom, press as pressIn } from './press.ts';
import { AGENT_RUN } from './seed-session.ts';

export interface Layer {
  /** Accessible name of the dialog or menu. */
  readonly name: string | RegExp;
  readonly role: 'dialog' | 'menu';
  path(names: PageNames): string;
  open(page: Page, isNarrow: boolean): Promise<void>;
}

type Step = (page: Page) => Promise<void>;

/** What has the button: the page, or the dialog of this name. */
const within = (page: Page, dialog: string | undefined) =>
  dialog === undefined ? page : page.getByRole('dialog', { name: dialog });

function press(name: string | RegExp, dialog?: string): Step {
  return (page) => pressIn(within(page, dialog), name);
}

function choose(trigger: string, item: string, dialog?: string): Step {
  return (page) => chooseFrom(within(page, dialog), trigger, item);
}

/** Chooses the row with this name for an act. */
function select(name: string): Step {
  return (page) => page.getByLabel(`Select ${name}`, { exact: true }).click();
}

/** Clicks the beginning of the row: its middle may be a link. */
function openRow(table: string, name: string | RegExp): Step {
  return (page) => {
    const row = page.getByRole('table', { name: table }).getByRole('row', { name }).first();
    return row.click({ position: { x: 8, y: 8 } });
  };
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

const VIEWS = 'Saved views';
const KEY = 'billing-api';
const OF_KEY = `Actions for ${KEY}`;
const PROVIDER = 'backup-lab';
const OF_PROVIDER = `Actions for ${PROVIDER}`;
const POOL = `Credentials of ${PROVIDER}`;
const OF_CREDENTIAL = 'Actions for default';
const MEMBER = 'The developer of default';
const OF_MEMBER = `Actions for ${MEMBER}`;

const openPool = choose(OF_PROVIDER, 'Credentials…');

export const LAYERS: readonly Layer[] = [
  layer('/app', 'Command palette', hit('Control+k')),
  layer('/app', 'Keyboard shortcuts', hit('?')),
  menu('/app', 'Ada Lovelace', async (page, isNarrow) => {
    if (isNarrow) await press('Pages')(page);
    await press(/Ada Lovelace$/)(page);
  }),
  layer('/app/usage', 'Time range', press('Custom')),
  layer('/app/usage', 'Add filter', press('Filter')),
  layer('/app/usage', 'Reconciliation with ledger', press('Reconcile with ledger')),
  layer('/app/logs', 'Add filter', press('Filter')),
  layer('/app/logs', VIEWS, press('Views')),
  menu('/app/logs', 'Actions for Server errors', steps(press('Views'), press('Actions for Server errors', VIEWS))),
  layer('/app/logs', 'Save view', steps(press('Views'), press('Save this page as view…', VIEWS))),
  layer('/app/logs', 'Edit Server errors', steps(press('Views'), choose('Actions for Server errors', 'Edit…', VIEWS))),
  layer(
    '/app/logs',
    'Delete Server errors?',
    steps(press('Views'), choose('Actions for Server errors', 'Delete…', VIEWS)),
  ),
  layer('/app/logs', 'Columns', press('Columns')),
  layer(
    ({ request }) => `/app/logs/${request}`,
    /./,
    async () => undefined,
  ),
  layer(
    ({ request, retried = request }) => `/app/logs/${retried}`,
    /./,
    async (page) => page.getByText('Probe of a target that failed before').waitFor(),
  ),
  layer('/app/logs?other_model=gpt-5', 'Cost on another model', async (page) =>
    page.getByRole('table', { name: 'Cost by API key' }).waitFor(),
  ),
  layer(`/app/sessions/${encodeURIComponent(AGENT_RUN)}`, /^gpt-5/, openRow('Requests of the session', /gpt-5/)),
  menu('/app/keys', OF_KEY),
  layer('/app/keys', 'Create API key', press('Create key')),
  layer(
    '/app/keys',
    'API key from the console created',
    steps(press('Create key'), type('Name', 'from the console'), hit('Enter')),
  ),
  layer('/app/keys', `Edit ${KEY}`, choose(OF_KEY, 'Edit…')),
  layer('/app/keys', `Rotate ${KEY}`, choose(OF_KEY, 'Rotate…')),
  layer('/app/keys', `Duplicate ${KEY}`, choose(OF_KEY, 'Duplicate…')),
  layer('/app/keys', 'Edit 1 key', steps(select(KEY), press('Edit…'))),
  layer('/app/keys', 'Disable 1 key?', steps(select(KEY), press('Disable…'))),
  layer('/app/keys', `Revoke ${KEY}?`, choose(OF_KEY, 'Revoke…')),
  layer('/app/limits', /^Limits for/, openRow('Account, workspace and API key limits', KEY)),
  layer('/app/limits', 'Add end-user limit', press('Add end-user limit')),
  layer('/app/models', 'GPT-5', openRow('Models', /^gpt-5\b/)),
  layer(
    '/app/models',
    'Targets of lab-small',
    steps(openRow('Models', /^lab-small/), press('Edit targets', 'lab-small')),
  ),
  layer(
    '/app/models',
    'routed',
    steps(openRow('Models', /^routed/), async (page) => {
      await page.getByText('Skipped', { exact: true }).waitFor();
      await page.getByText('Paste JSON').click();
    }),
  ),
  layer('/app/models', 'Set price', steps(openRow('Models', /^gpt-5\b/), press('Set price', 'GPT-5'))),
  layer('/app/playground', 'Request as code', press('View code')),
  menu('/app/providers', OF_PROVIDER),
  layer('/app/providers', 'Add provider', press('Add provider')),
  layer('/app/providers', `Edit ${PROVIDER}`, choose(OF_PROVIDER, 'Edit…')),
  layer('/app/providers', POOL, openPool),
  layer('/app/providers', `Add credential to ${PROVIDER}`, steps(openPool, press('Add credential', POOL))),
  menu('/app/providers', OF_CREDENTIAL, steps(openPool, press(OF_CREDENTIAL, POOL))),
  layer('/app/providers', 'Edit default', steps(openPool, choose(OF_CREDENTIAL, 'Edit…', POOL))),
  layer('/app/providers', 'Replace secret of default', steps(openPool, choose(OF_CREDENTIAL, 'Replace secret…', POOL))),
  layer('/app/providers', `Replace models of ${PROVIDER}`, choose(OF_PROVIDER, 'Replace models…')),
  layer('/app/providers', `Models of ${PROVIDER}`, choose(OF_PROVIDER, 'Models…')),
  layer('/app/providers', `Remove ${PROVIDER}?`, choose(OF_PROVIDER, 'Remove provider…')),
  layer('/app/workspaces', 'Create workspace', press('Create workspace')),
  layer('/app/workspaces', 'research', openRow('Workspaces', 'research')),
  menu('/app/members', OF_MEMBER),
  layer('/app/members', `Change role of ${MEMBER}`, choose(OF_MEMBER, 'Change role…')),
  layer('/app/members', `Remove ${MEMBER}?`, choose(OF_MEMBER, 'Remove from account…')),
  layer('/app/members', `Create password reset link for ${MEMBER}`, choose(OF_MEMBER, 'Create password reset link…')),
  layer('/app/members', 'Invite member', press('Invite member')),
  layer(
    '/app/members',
    'Share this link',
    steps(press('Invite member'), type('Email', 'grace@example.com'), press('Create invitation', 'Invite member')),
  ),
  layer('/app/members', 'Revoke invitation?', press('Revoke invitation of linus@example.com')),
  layer('/app/billing', 'Top up default', press('Top up')),
  layer('/app/billing', 'Adjust balance of default', press('Adjust balance…')),
  layer('/app/billing', 'Statement CSV', press('Statement CSV')),
  layer('/app/billing', 'Create account', press('Create account')),
  layer('/app/billing', 'default', openRow('Accounts', 'default')),
  layer('/app/reconciliation', 'Missing call', openRow('Findings', /Missing call/)),
  layer('/app/guardrails', 'Create guardrail', press('Create guardrail')),
  layer('/app/guardrails', 'Edit Code names', openRow('Guardrails', /Code names/)),
  menu('/app/guardrails', 'Actions for Code names'),
  layer('/app/guardrails', 'Delete Code names?', choose('Actions for Code names', 'Delete…')),
  layer('/app/alerts', 'Create alert', press('Create alert')),
  layer('/app/alerts', 'Budgets to #platform', openRow('Alert rules', /Budgets to #platform/)),
  menu('/app/alerts', 'Actions for Budgets to #platform'),
  layer('/app/alerts', 'Edit Budgets to #platform', choose('Actions for Budgets to #platform', 'Edit…')),
  layer('/app/alerts', 'Delete Budgets to #platform?', choose('Actions for Budgets to #platform', 'Delete…')),
  layer('/app/audit', /./, openRow('Audit log', /Created key/)),
  layer('/app/me', 'Set up two-factor authentication', press('Set up…')),
  layer(
    '/app/me',
    'Add Tollgate to your authenticator app',
    steps(press('Set up…'), type('Password', PASSWORD), press('Continue', 'Set up two-factor authentication')),
  ),
];
