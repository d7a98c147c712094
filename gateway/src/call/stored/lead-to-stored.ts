/**
 * Leads a call that names something stored to the target and the credential that keep it, and refuses what is not the
 * workspace's. Nothing else may answer such a call. Source: contract, 10.12.
 */
import { type CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { speaks } from '../../protocols/names.ts';
import { isShared } from '../../protocols/stored/shared-state.ts';
import type { StoredKind, StoredReference } from '../../protocols/stored/stored-references.ts';
import type { Upstream } from '../../providers/provider.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import { type Identified, setFacts } from '../call.ts';
import { chooseRoute } from '../request/identify.ts';
import type { ReadCall } from '../request/read-body.ts';
import { expandRequest, isExpandable } from './expand-request.ts';
import { readSafely } from './read-safely.ts';
import { refuseReference } from './refuse-reference.ts';
import { KEPT_HERE } from './stored-by.ts';

/** The call with the tokens of what it continues, and the only target that it may go to. */
export interface LedCall {
  readonly read: ReadCall;
  /** Null: it names nothing that binds it to a target. */
  readonly route: Route | null;
}

/** What a translation itself drops or refuses, where no target speaks the format. */
const TRANSLATED: ReadonlySet<StoredKind> = new Set(['item', 'conversation', 'prompt']);

/** As the estimate of input counts them. */
const BYTES_PER_TOKEN = 4;

/** Throws CallFailure `not_found` or `invalid_request` for the first thing that the workspace may not use. */
export async function leadToStored(call: Identified, read: ReadCall): Promise<LedCall> {
  const { settings, principal, protocol } = call;
  const { outline, facts } = read;
  setFacts(call, outline, facts);
  const route = chooseRoute(settings, principal, facts.model, protocol.name);
  const isBackground = facts.background !== undefined;
  const native = route.targets.filter(
    ({ upstream }) => speaks(upstream.protocols, protocol.name) && (!isBackground || upstream.state.isKept),
  );
  const [first, ...others] = native;
  if (isBackground && first === undefined) throw notInBackground();
  const { stored = [] } = facts;
  const rows = await findRows(call, stored);
  const kept = stored.flatMap((reference) => {
    const row = rows.get(keyOf(reference));
    return row?.provider === KEPT_HERE && isExpandable(reference) ? [{ reference, row }] : [];
  });
  if (kept.length > 0) return leadExpanded(call, await expandRequest(call, read, kept));
  const named = stored.filter(({ kind }) => native.length > 0 || !TRANSLATED.has(kind));
  if (named.length === 0)
    return { read, route: isBackground && first !== undefined ? { ...route, targets: [first, ...others] } : null };
  const target = bestOf(native.flatMap((one) => leadTo(one, named, rows, principal.workspaceId)));
  if (target === null) throw refuse(named, rows, route, principal.workspaceId);
  const inputBytes = facts.inputBytes + tokensOf(rows.values()) * BYTES_PER_TOKEN;
  return { read: { outline, facts: { ...facts, inputBytes } }, route: { ...route, targets: [target] } };
}

/** Leads to what else the request names. Nothing that is kept here is left in it. */
async function leadExpanded(call: Identified, read: ReadCall): Promise<LedCall> {
  const { stored, background } = read.facts;
  return stored === undefined && background === undefined ? { read, route: null } : leadToStored(call, read);
}

/** Only a target that keeps responses, in the client's format, can make one that is fetched later. */
function notInBackground(): CallFailure {
  const why = 'the model behind this name cannot answer in the background; leave it out, and stream';
  return invalidRequest(`background: ${why}`, 'background');
}

/**
 * The tokens of what a request names that is stored. Throws as `leadToStored` unless the only target of the route keeps all
 * of it with that credential.
 */
export async function tokensOfStored(
  call: Identified,
  named: readonly StoredReference[],
  route: Route,
  credential: string,
): Promise<number> {
  const { workspaceId } = call.principal;
  const rows = await findRows(call, named);
  const [led] = leadTo(route.targets[0], named, rows, workspaceId);
  if (led === undefined || !led.upstream.credentials.some(({ name }) => name === credential)) {
    throw refuse(named, rows, route, workspaceId);
  }
  return tokensOf(rows.values());
}

export type Rows = ReadonlyMap<string, StoredRow>;

/** The key of a row in `Rows`. */
export const keyOf = ({ kind, id }: { readonly kind: string; readonly id: string }) => `${kind} ${id}`;

/** The rows of the workspace for what is named. Throws CallFailure `store_unavailable`. */
export async function findRows({ deps, principal }: Identified, named: readonly StoredReference[]): Promise<Rows> {
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  const ids = [...new Set(named.flatMap(({ kind, id }) => (kind === 'address' ? [] : [id])))];
  if (ids.length === 0) return new Map();
  const rows = await readSafely(() => deps.storedState.find(owner, ids, Date.now()));
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** The target with the credential that keeps everything that is named; none: it does not. */
export function leadTo(target: Target, named: readonly StoredReference[], rows: Rows, workspace: string): Target[] {
  const { upstream } = target;
  let credential: string | null = null;
  for (const reference of named) {
    const row = rows.get(keyOf(reference));
    if (row === undefined || row.provider !== upstream.provider) {
      if (!isShared(upstream.state, reference.id, workspace)) return [];
    } else if (credential === null) credential = row.credential;
    else if (credential !== row.credential) return [];
  }
  if (credential === null) return [target];
  const index = upstream.credentials.findIndex(({ name }) => name === credential);
  const { isKept, creates } = upstream.state;
  return index === -1 || !(isKept || creates.length > 0)
    ? []
    : [{ ...target, upstream: pinCredential(upstream, index) }];
}

function bestOf([first, ...others]: readonly Target[]): Target | null {
  if (first === undefined) return null;
  return others.reduce((best, one) => (one.priority < best.priority ? one : best), first);
}

const pinned = new WeakMap<Upstream, Map<number, Upstream>>();

/** The same upstream with one of its credentials alone: what is learned of both is shared by their keys. */
function pinCredential(upstream: Upstream, index: number): Upstream {
  const credential = upstream.credentials[index];
  if (credential === undefined || upstream.credentials.length === 1) return upstream;
  let byIndex = pinned.get(upstream);
  if (byIndex === undefined) {
    byIndex = new Map();
    pinned.set(upstream, byIndex);
  }
  let one = byIndex.get(index);
  if (one === undefined) {
    one = {
      ...upstream,
      credentials: [credential],
      openExchange: (request, _only, bytesMax, listener) => upstream.openExchange(request, index, bytesMax, listener),
    };
    byIndex.set(index, one);
  }
  return one;
}

/** Each call's once: the provider reads again what the named calls left. */
function tokensOf(rows: Iterable<StoredRow>): number {
  const byCall = new Map<string, number>();
  for (const { request_id, tokens } of rows) byCall.set(request_id, Math.max(byCall.get(request_id) ?? 0, tokens));
  return [...byCall.values()].reduce((sum, tokens) => sum + tokens, 0);
}

function refuse(
  named: readonly StoredReference[],
  rows: Rows,
  { model, targets }: Route,
  workspace: string,
): CallFailure {
  const foreign = named.find(
    (reference) =>
      !rows.has(keyOf(reference)) && !targets.some(({ upstream }) => isShared(upstream.state, reference.id, workspace)),
  );
  if (foreign !== undefined) return refuseReference(foreign);
  const path = named[0]?.path ?? '';
  return invalidRequest(
    `${path}: is stored at an account of a provider that the model ${JSON.stringify(model)} does not lead to, or not with the other stored things of this request; name the model that answered it, or send the whole input with "store": false`,
    path,
  );
}
