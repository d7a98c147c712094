/**
 * Defines the commands for the credentials of providers that were entered in the console: a pool of keys, accounts or
 * roles. Secrets are sealed for the provider's address and never shown.
 */
import { z } from 'zod';
import type { Served } from '../../config/console-entries.ts';
import { type ConsoleProvider, findConsoleKind, lastFour, readSecrets } from '../../config/console-providers.ts';
import type { StoredCredential } from '../../store/ports/providers.ts';
import { givenId } from '../arguments.ts';
import { CommandFailure, type CommandRun, type ControlCommand, defineCommand } from '../command.ts';
import { removeCredential, rotate } from './rotation.ts';
import { auditRouting, findCredential, findProvider, readServed } from './routing-scope.ts';
import { type CredentialView, credentialSettings, newCredential, secrets } from './routing-shapes.ts';
import { viewCredentials, viewEntered } from './routing-views.ts';

const POOL_MAX = 100;
const named = { provider: givenId, name: givenId };

const list = defineCommand(z.strictObject({ provider: givenId.optional() }), async (run, { provider }) =>
  viewCredentials(await readServed(run), provider ?? null),
);

const add = defineCommand(z.strictObject({ provider: givenId, ...newCredential }), async (run, { name, ...given }) => {
  const provider = findProvider(await readServed(run), given.provider);
  if (provider.credentials.some((one) => one.name === name)) {
    throw new CommandFailure(`The provider ${given.provider} already has a credential ${name}; choose another name`);
  }
  if (provider.credentials.length >= POOL_MAX) {
    throw new CommandFailure(`The provider ${given.provider} has ${POOL_MAX} credentials, the most that it can have`);
  }
  const nowMs = run.nowMs();
  const credential: StoredCredential = {
    provider: given.provider,
    name,
    ...sealFor(run, provider, name, given.secrets),
    weight: given.weight ?? 1,
    organisation: given.organisation ?? null,
    models: given.models ?? null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  await run.routing.book.save(
    [{ of: 'credential', isNew: true, credential }],
    auditRouting(run, subjectOf(credential), null, viewEntered(credential)),
  );
  return viewOne(run, credential);
});

const set = defineCommand(z.strictObject({ ...named, ...credentialSettings }), async (run, given) => {
  const served = await readServed(run);
  const provider = findProvider(served, given.provider);
  const before = findCredential(provider, given.name);
  const { weight = before.weight, organisation = before.organisation, models = before.models } = given;
  const credential = { ...before, weight, organisation, models, updatedAtMs: run.nowMs() };
  checkLeft(served, before, models);
  const entries = auditRouting(run, subjectOf(before), viewEntered(before), viewEntered(credential));
  if (entries.length > 0) await run.routing.book.save([{ of: 'credential', isNew: false, credential }], entries);
  return viewOne(run, credential);
});

const replace = defineCommand(z.strictObject({ ...named, secrets }), async (run, given) => {
  const provider = findProvider(await readServed(run), given.provider);
  const before = findCredential(provider, given.name);
  const sealed = sealFor(run, provider, given.name, given.secrets);
  const credential = { ...before, ...sealed, updatedAtMs: run.nowMs() };
  // Recorded even where the last four characters are the same.
  const after = { ...viewEntered(credential), secrets: 'replaced' };
  await run.routing.book.save(
    [{ of: 'credential', isNew: false, credential }],
    auditRouting(run, subjectOf(before), viewEntered(before), after),
  );
  return viewOne(run, credential);
});

const remove = defineCommand(z.strictObject(named), async (run, given) => {
  const served = await readServed(run);
  const credential = findCredential(findProvider(served, given.provider), given.name);
  checkLeft(served, credential, []);
  await run.routing.book.save(
    removeCredential(credential),
    auditRouting(run, subjectOf(credential), viewEntered(credential), null),
  );
  return { provider: credential.provider, name: credential.name, removed: true };
});

const disable = defineCommand(z.strictObject(named), async (run, given) => {
  const served = await readServed(run);
  const found = findAny(served, given);
  if (found.out_of_rotation_since === null) {
    checkLeft(served, given, []);
    await rotate(run, { kind: 'credential', owner: given.provider, name: given.name }, false);
  }
  return viewOne(run, given);
});

const enable = defineCommand(z.strictObject(named), async (run, given) => {
  const found = findAny(await readServed(run), given);
  if (found.out_of_rotation_since !== null)
    await rotate(run, { kind: 'credential', owner: given.provider, name: given.name }, true);
  return viewOne(run, given);
});

type Named = Pick<StoredCredential, 'provider' | 'name'>;

function subjectOf({ provider, name }: Named) {
  return { kind: 'credential', id: `${provider}/${name}` };
}

/** A credential of any provider, those of the configuration included. @throws CommandFailure if no such credential exists. */
function findAny(served: Served, { provider, name }: Named) {
  const found = viewCredentials(served, provider).find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new CommandFailure(
    `There is no credential ${JSON.stringify(name)} of a provider ${JSON.stringify(provider)}. List them: tollgate credentials list`,
  );
}

async function viewOne(run: CommandRun, credential: Named): Promise<CredentialView> {
  return findAny(await readServed(run), credential);
}

/** The stored form of secrets. @throws CommandFailure for secrets that the kind does not take. */
function sealFor(run: CommandRun, { entry }: ConsoleProvider, name: string, written: Readonly<Record<string, string>>) {
  const kind = findConsoleKind(entry.kind);
  if (kind === undefined) throw new CommandFailure(`This version does not know the kind ${entry.kind}`);
  const read = readSecrets(kind, entry.settings, written);
  if ('fault' in read) throw new CommandFailure(`${read.fault.member}: ${read.fault.words}`, 'usage');
  const last4 = lastFour(read.secrets);
  if (last4 === null) throw new CommandFailure(`secrets: found none, and a credential has at least one`, 'usage');
  const { origin } = new URL(entry.baseUrl);
  return { sealed: run.routing.seal({ provider: entry.name, name }, origin, read.secrets), last4 };
}

/**
 * @throws CommandFailure where a served model would have no credential in rotation, once this one may only be used for
 * `models` (null: all).
 */
function checkLeft(served: Served, { provider, name }: Named, models: readonly string[] | null): void {
  const pool = viewCredentials(served, provider)
    .filter((one) => one.out_of_rotation_since === null || one.name === name)
    .map((one) => (one.name === name ? { ...one, models } : one));
  const mayServe = (model: string) => pool.some((one) => one.models === null || one.models.includes(model));
  for (const model of new Set(served.models.values())) {
    for (const target of model.targets) {
      if (target.provider.name !== provider || mayServe(target.model)) continue;
      throw new CommandFailure(
        `No credential of ${provider} would be left for ${target.model}, which the model ${model.name} uses. Add or put back another one first`,
      );
    }
  }
}

export const CREDENTIAL_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['credentials.list', list],
  ['credentials.add', add],
  ['credentials.set', set],
  ['credentials.replace', replace],
  ['credentials.remove', remove],
  ['credentials.disable', disable],
  ['credentials.enable', enable],
];
