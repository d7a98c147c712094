/** Validates a provider as entered in the console: its name, kind, address, credentials and models. */

import { setTimeout } from 'node:timers/promises';
import { sourceOfModel } from '../../config/console-entries.ts';
import {
  CONSOLE_KINDS,
  type ConsoleKind,
  type EntryFault,
  findConsoleKind,
  findEntryFault,
  parseSecrets,
  readConsoleAddress,
  readSettings,
} from '../../config/console-providers.ts';
import { quoteText } from '../../config/file/config-problem.ts';
import type { BaseUrl } from '../../config/file/scalar-schema.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { Secrets, Settings } from '../../providers/provider.ts';
import { findKind } from '../../providers/registry.ts';
import type { EnteredModel } from '../../store/ports/providers.ts';
import { findPublicAddress, PrivateAddressError } from '../../upstream/dial.ts';
import type { Running } from './model-deps.ts';

/** Other changes wait during the lookup. */
const LOOK_UP_MS_MAX = 3_000;
const CONTROLS = /\p{Cc}/u;

/** Throws `conflict` for a name that is in use, or could be after the next start. */
export function checkName(name: string, { config, providers }: Running): void {
  const owner = config.providers.has(name)
    ? 'the configuration defines a provider of this name'
    : providers.some(({ entry }) => entry.name === name)
      ? 'a provider of this name exists'
      : findKind(name)?.local
        ? `the built-in ${name} has this name`
        : null;
  if (owner !== null) throw new ConsoleFailure('conflict', `name: ${owner}; choose another one`, { member: 'name' });
}

/** The kind of that name. Throws `invalid` for an unknown one. */
export function readKind(name: string): ConsoleKind {
  const kind = findConsoleKind(name);
  if (kind !== undefined) return kind;
  const names = CONSOLE_KINDS.map((one) => one.name).join(', ');
  throw new ConsoleFailure('invalid', `kind: found ${quoteText(name)}, expected one of ${names}`, { member: 'kind' });
}

/**
 * The provider's address. Must be on the public internet, except for origins that the file allows. Throws `invalid`.
 */
export async function readAddress(
  kind: ConsoleKind,
  written: string | null,
  settings: Settings,
  { config }: Running,
): Promise<BaseUrl> {
  const address = readConsoleAddress(kind, written, settings, config.server);
  if ('found' in address) refuseAddress(`found ${address.found}, expected ${address.expected}. ${address.advice}`);
  if (config.server.privateOrigins.includes(address.origin)) return address;
  const host = new URL(address.origin).hostname.replace(/^\[|\]$/g, '');
  try {
    await Promise.race([findPublicAddress(host), setTimeout(LOOK_UP_MS_MAX, undefined, { ref: false })]);
  } catch (fault) {
    // A name that can't be resolved now is checked at each connection, like every name.
    if (fault instanceof PrivateAddressError) {
      refuseAddress(
        `${fault.message}. Write ${address.origin} under server.private_origins in the configuration file to allow it.`,
      );
    }
  }
  return address;
}

function refuseAddress(words: string): never {
  throw new ConsoleFailure('invalid', `base_url: ${words}`, { member: 'base_url' });
}

/** The settings of the kind by name. Throws `invalid`. */
export function readOwnSettings(kind: ConsoleKind, written: Readonly<Record<string, string>>): Settings {
  const read = readSettings(kind, written);
  return 'settings' in read ? read.settings : refuseEntry(read.fault);
}

/** The secrets of the kind by name. Throws `invalid` with a message that contains none of them. */
export function parseCredentials(kind: ConsoleKind, written: Readonly<Record<string, string>>): Secrets {
  const read = parseSecrets(kind, written);
  return 'secrets' in read ? read.secrets : refuseEntry(read.fault);
}

/** Throws `invalid` for settings and secrets that the kind does not take together. */
export function checkEntry(kind: ConsoleKind, settings: Settings, secrets: Secrets): void {
  const fault = findEntryFault(kind, settings, secrets);
  if (fault !== null) refuseEntry(fault);
}

/** The secrets of a provider's first credential are its `credentials`. */
function refuseEntry({ member: found, words }: EntryFault): never {
  const member = found.replace(/^secrets\./, 'credentials.');
  throw new ConsoleFailure('invalid', `${member}: ${words}`, { member });
}

/** Throws `invalid` or `conflict` for model names that can't be served. */
export function checkModels({ preset }: ConsoleKind, models: readonly EnteredModel[], running: Running): void {
  if (models.length === 0 && (preset?.catalogProvider ?? null) === null) {
    throw new ConsoleFailure(
      'invalid',
      'models: found none, and the catalog lists none for this provider; enter at least one. A test lists the available models',
      { member: 'models' },
    );
  }
  for (const [index, { name, upstream }] of models.entries()) {
    const member = `models.${index}.name`;
    if (CONTROLS.test(name) || CONTROLS.test(upstream)) {
      throw new ConsoleFailure(
        'invalid',
        `${member}: found a control character, expected a name without control characters`,
        { member },
      );
    }
    if (models.findIndex((one) => one.name === name) < index) {
      throw new ConsoleFailure('invalid', `${member}: ${quoteText(name)} is listed twice; remove one`, { member });
    }
    const model = running.models.get(name);
    if (model !== undefined && sourceOfModel(model, running) !== 'console') {
      throw new ConsoleFailure(
        'conflict',
        `${member}: the configuration defines ${quoteText(name)}, which takes precedence; choose another public name`,
        { member },
      );
    }
  }
}
