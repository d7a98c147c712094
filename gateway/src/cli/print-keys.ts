/** Owns how keys are printed: as JSON, and in words. */
import { z } from 'zod';
import type { Json } from '../control/command.ts';
import { viewKey } from '../control/views.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { makeVisible, renderFields, renderJsonLine, renderTable } from './output.ts';
import { readCapsOf } from './read-caps.ts';
import { layeredCapsView, renderLayeredCaps } from './render-caps.ts';
import { withReading } from './with-reading.ts';

/** What a view of a key holds; see control/views.ts. */
const keyView = z.object({
  id: z.string(),
  key: z.string().optional(),
  name: z.string(),
  workspace: z.string(),
  last4: z.string(),
  models: z.array(z.string()).nullable(),
  ips: z.array(z.string()).nullable(),
  scopes: z.array(z.string()),
  strict: z.boolean(),
  holds: z.string().nullable(),
  status: z.string(),
  expires_at: z.string().nullable(),
  previous_expires_at: z.string().nullable(),
  ...layeredCapsView,
});
type KeyView = z.infer<typeof keyView>;

/** Prints a key with its secret. */
export function printNewKey(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderNewKey(keyView.parse(result)));
}

function renderNewKey(key: KeyView): string {
  const parts = [
    `\n  ${key.key}\n\nThis is the only time the key is shown. Keep it where secrets are kept.\n\n`,
    renderFields(describe(key)),
  ];
  if (key.previous_expires_at !== null) {
    const [until] = [key.previous_expires_at, key.expires_at ?? key.previous_expires_at].sort();
    parts.push(`\nThe old secret works until ${until}. To end it now: tollgate keys rotate ${key.id} --grace 0s\n`);
  }
  parts.push(`\nSend it as the header "Authorization: Bearer KEY". To end it: tollgate keys revoke ${key.id}\n`);
  return parts.join('');
}

/** Prints a key after a change. */
export function printKeyState(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderKeyState(keyView.parse(result), environment.nowMs()));
}

function renderKeyState(key: KeyView, nowMs: number): string {
  return `The key ${makeVisible(key.name)} is ${stateOf(key, nowMs)}.\n${renderFields(describe(key))}`;
}

/** Prints all keys, in the order in which they were made. */
export async function printKeyList(environment: CliEnvironment, asJson: boolean): Promise<void> {
  const views = await withReading(environment, async (reading) => {
    const capsOf = await readCapsOf(reading, 'key');
    return (await reading.readKeys()).map((key) => viewKey(key, capsOf(key.id)));
  });
  environment.stdout(asJson ? views.map(renderJsonLine).join('') : renderKeyTable(views, environment.nowMs()));
}

function renderKeyTable(views: readonly Json[], nowMs: number): string {
  if (views.length === 0) return 'There are no keys. Make one: tollgate keys create --name NAME\n';
  const rows = views
    .map((view) => keyView.parse(view))
    .map((key) => [
      key.id,
      key.name,
      key.workspace,
      `…${key.last4}`,
      stateOf(key, nowMs),
      renderSwitch(key.strict),
      listOf(key.models, 'all'),
      renderLayeredCaps(key),
    ]);
  return renderTable(['ID', 'NAME', 'WORKSPACE', 'ENDS IN', 'STATE', 'STRICT', 'MODELS', 'LIMITS'], rows);
}

function describe(key: KeyView): [string, string][] {
  return [
    ['id', key.id],
    ['name', key.name],
    ['workspace', key.workspace],
    ['models', listOf(key.models, 'all of the workspace')],
    ['addresses', listOf(key.ips, 'any')],
    ['scopes', key.scopes.join(', ')],
    ['strict', renderSwitch(key.strict)],
    ['holds', key.holds ?? 'as its account'],
    ['limits', renderLayeredCaps(key)],
    ['expires', key.expires_at ?? 'never'],
  ];
}

function stateOf(key: KeyView, nowMs: number): string {
  return key.status === 'active' && key.expires_at !== null && Date.parse(key.expires_at) <= nowMs
    ? 'expired'
    : key.status;
}

function renderSwitch(on: boolean): string {
  return on ? 'on' : 'off';
}

function listOf(list: readonly string[] | null, none: string): string {
  return list === null ? none : list.join(', ');
}
