/**
 * Finds routes, targets, providers and credentials for the commands that change them, and says which are read-only
 * because the configuration defines them.
 */
import { type Served, sourceOfModel } from '../../config/console-entries.ts';
import type { ConsoleProvider } from '../../config/console-providers.ts';
import type { ConsoleRoute } from '../../config/console-routes.ts';
import type { ServedModel, ServedTarget } from '../../config/served-models.ts';
import type { NewAuditEntry } from '../../store/ports/audit.ts';
import type { StoredCredential } from '../../store/ports/providers.ts';
import { CommandFailure, type CommandRun } from '../command.ts';
import { auditChange, OPERATOR_ACCOUNT, type ShownMembers } from '../policy-changes.ts';

/** The served models and their sources. @throws CommandFailure if they are unknown here, or for others than operators. */
export async function readServed({ routing, by }: CommandRun): Promise<Served> {
  if (by.authority !== 'operator') {
    throw new CommandFailure('Only an operator of this gateway can see or change its routing; ask them.', 'forbidden');
  }
  const served = await routing.served();
  if (served !== null) return served;
  throw new CommandFailure(
    'No server is running, and no configuration file here names the providers. Start the server, or run this where its configuration file is.',
  );
}

/** A model by its name or an alias. @throws CommandFailure if it is not served. */
export function findServed({ models }: Served, name: string): ServedModel {
  const model = models.get(name);
  if (model !== undefined) return model;
  throw new CommandFailure(`There is no model ${JSON.stringify(name)}. List them: tollgate routes list --all`);
}

/** @throws CommandFailure if the model is not served or has no such target. */
export function findTarget(model: ServedModel, name: string): ServedTarget {
  const target = model.targets.find((one) => one.name === name);
  if (target !== undefined) return target;
  const names = model.targets.map((one) => one.name).join(', ');
  throw new CommandFailure(`The model ${model.name} has no target ${JSON.stringify(name)}. Its targets: ${names}`);
}

/** A route entered in the console. @throws CommandFailure if it does not exist, or is defined elsewhere. */
export function findRoute(served: Served, name: string): ConsoleRoute {
  const route = served.routes.find(({ entry }) => entry.model === name);
  if (route !== undefined) return route;
  const model = findServed(served, name);
  throw new CommandFailure(
    sourceOfModel(model, served) === 'file'
      ? `The configuration file defines the model ${model.name}, so it is read-only here; change it there`
      : `The model ${model.name} has no route of its own yet: its provider serves it. Create one: tollgate routes create ${model.name} --target provider=NAME`,
  );
}

/** A provider entered in the console. @throws CommandFailure if it does not exist, or is defined elsewhere. */
export function findProvider({ config, providers }: Served, name: string): ConsoleProvider {
  if (config.providers.has(name)) {
    throw new CommandFailure(
      `The configuration file or the environment defines the provider ${name}, so its credentials are read-only here; change them there`,
    );
  }
  const provider = providers.find(({ entry }) => entry.name === name);
  if (provider !== undefined) return provider;
  throw new CommandFailure(`There is no provider ${JSON.stringify(name)}. Add it at /app/providers`);
}

/** @throws CommandFailure if the provider has no such credential. */
export function findCredential({ entry, credentials }: ConsoleProvider, name: string): StoredCredential {
  const credential = credentials.find((one) => one.name === name);
  if (credential !== undefined) return credential;
  throw new CommandFailure(
    `The provider ${entry.name} has no credential ${JSON.stringify(name)}. List them: tollgate credentials list`,
  );
}

/** The audit entry of a change of routing, as the list to store with it; empty if nothing changes. */
export function auditRouting(
  run: CommandRun,
  subject: NewAuditEntry['subject'],
  before: ShownMembers | null,
  after: ShownMembers | null,
): readonly NewAuditEntry[] {
  return auditChange(run, { account: OPERATOR_ACCOUNT, workspace: null, subject, before, after });
}
