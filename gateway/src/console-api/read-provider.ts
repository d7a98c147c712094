/** Owns what may be entered about a provider: each member by its rule, the names against those that are taken. Keeps nothing. */
import { setTimeout } from 'node:timers/promises';
import type { BaseUrl } from '../config/base-url.ts';
import { quoteText } from '../config/config-problem.ts';
import { CONSOLE_KINDS, presetOfKind, readConsoleAddress } from '../config/console-providers.ts';
import { Secret } from '../lib/secret.ts';
import type { EnteredModel } from '../store/provider-port.ts';
import { findPublicAddress, NotPublic } from '../upstream/public-host.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { ReadBody } from './contract.ts';
import type { Running } from './model-desk.ts';
import { sourceOfModel } from './models.ts';

type ProviderBody = ReadBody<'POST /accounts/{account}/providers'>;

const CREDENTIAL = /^[\x21-\x7e]{1,4096}$/;
/** Others wait for their turn meanwhile. */
const LOOK_UP_MS_MAX = 3_000;
const CONTROLS = /\p{Cc}/u;

/** Throws `conflict` for a name that something else has, or could have after the next start. */
export function checkName(name: string, { settings: { config }, added }: Running): void {
  const owner = config.providers.has(name)
    ? 'the configuration has a provider of this name, which is read-only here'
    : added.some(({ entry }) => entry.name === name)
      ? 'there is a provider of this name'
      : name === 'demo'
        ? 'this is the name of the built-in demo'
        : null;
  if (owner !== null) throw new ConsoleFailure('conflict', `name: ${owner}; choose another one`, { member: 'name' });
}

/** Throws `invalid` for a kind that is none. */
export function checkKind(kind: string): void {
  if (presetOfKind(kind) !== undefined) return;
  const kinds = CONSOLE_KINDS.map((one) => one.kind).join(', ');
  throw new ConsoleFailure('invalid', `kind: found ${quoteText(kind)}, expected one of ${kinds}`, { member: 'kind' });
}

/** The address of the provider, of the public internet where the file says nothing else. Throws `invalid`. */
export async function readAddress(
  { kind, base_url }: Pick<ProviderBody, 'kind' | 'base_url'>,
  { settings: { config } }: Running,
): Promise<BaseUrl> {
  const address = readConsoleAddress(kind, base_url, config.server);
  if ('found' in address) refuseAddress(`found ${address.found}, expected ${address.expected}. ${address.advice}`);
  if (config.server.privateOrigins.includes(address.origin)) return address;
  const host = new URL(address.origin).hostname.replace(/^\[|\]$/g, '');
  try {
    await Promise.race([findPublicAddress(host), setTimeout(LOOK_UP_MS_MAX, undefined, { ref: false })]);
  } catch (fault) {
    // A name that cannot be looked up now is judged at each connection, as every name is.
    if (fault instanceof NotPublic) {
      refuseAddress(
        `${fault.message}. Write ${address.origin} under server.private_origins in the configuration file if it is meant.`,
      );
    }
  }
  return address;
}

function refuseAddress(words: string): never {
  throw new ConsoleFailure('invalid', `base_url: ${words}`, { member: 'base_url' });
}

/** The credential; null: none. Throws `invalid`, in words without it. */
export function readCredential(kind: string, written: string | null): Secret | null {
  const variables = presetOfKind(kind)?.credentialVariables ?? [];
  if (written === null) {
    if (variables.length === 0) return null;
    throw new ConsoleFailure('invalid', `credential: found none, and ${kind} needs one`, { member: 'credential' });
  }
  if (CREDENTIAL.test(written)) return new Secret(written);
  throw new ConsoleFailure(
    'invalid',
    'credential: found a text that is not shown, expected visible ASCII characters; look for a line break, space or quote that came along when it was copied',
    { member: 'credential' },
  );
}

/** Throws `invalid` or `conflict` for names that cannot be served. */
export function checkModels(kind: string, models: readonly EnteredModel[], running: Running): void {
  if (models.length === 0 && (presetOfKind(kind)?.catalogProvider ?? null) === null) {
    throw new ConsoleFailure(
      'invalid',
      'models: found none, and the catalogue knows none of this host; name at least one. The test lists what it has',
      { member: 'models' },
    );
  }
  for (const [index, { name, upstream }] of models.entries()) {
    const member = `models.${index}.name`;
    if (CONTROLS.test(name) || CONTROLS.test(upstream)) {
      throw new ConsoleFailure('invalid', `${member}: found a control character, expected a name without`, { member });
    }
    if (models.findIndex((one) => one.name === name) < index) {
      throw new ConsoleFailure('invalid', `${member}: ${quoteText(name)} stands there twice; remove one`, { member });
    }
    const model = running.served.get(name);
    if (model !== undefined && sourceOfModel(model, running) !== 'console') {
      throw new ConsoleFailure(
        'conflict',
        `${member}: the configuration serves ${quoteText(name)} itself, and its names go before the console's; choose another public name`,
        { member },
      );
    }
  }
}
