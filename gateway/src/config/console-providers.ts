/**
 * Resolves the providers entered in the console: each becomes a provider like the file's, or a reason why it cannot be
 * used, and adds its models. The configuration takes precedence.
 */

import { parseIpAddress } from '../lib/ip-range.ts';
import { isPublicAddress } from '../lib/public-address.ts';
import type { Secret } from '../lib/secret.ts';
import { CLIENT_PROTOCOL_NAMES } from '../protocols/names.ts';
import { findPreset, PRESETS, type Preset } from '../providers/presets.ts';
import type { EnteredModel, StoredProvider } from '../store/ports/providers.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import { type Config, NO_CAPABILITIES, type UpstreamProvider } from './config.ts';
import { type Fault, quoteText } from './file/config-problem.ts';
import { buildUpstreamProvider, originOf } from './resolve-providers.ts';
import { type ListCatalogNames, type ServedModel, withCatalog } from './served-models.ts';

/** The kinds of providers the console can add. `base_url` null: the user must enter it. */
export const CONSOLE_KINDS: ReadonlyArray<{
  readonly kind: string;
  readonly name: string;
  readonly base_url: string | null;
}> = [
  ...PRESETS.map(({ name, title, baseUrl }) => ({ kind: name, name: title, base_url: baseUrl })),
  { kind: 'openai-compatible', name: 'Another host, OpenAI-compatible', base_url: null },
];

/** A kind's preset; null: it has none; undefined: the kind does not exist. */
export function presetOfKind(kind: string): Preset | null | undefined {
  return kind === 'openai-compatible' ? null : findPreset(kind);
}

/** The address of a console provider: the given one, else that of its kind. */
export function readConsoleAddress(
  kind: string,
  written: string | null,
  { privateOrigins }: Config['server'],
): BaseUrl | Fault {
  const preset = presetOfKind(kind) ?? null;
  if (written === null && preset === null) {
    return { found: 'no address', expected: 'one, for this kind has none of its own', advice: 'Add it.' };
  }
  const address =
    written !== null
      ? parseBaseUrl(written)
      : { url: preset?.baseUrl ?? '', origin: preset === null ? '' : originOf(preset) };
  return 'found' in address ? address : (checkConsoleAddress(address, privateOrigins) ?? address);
}

/** A provider as entered, and the provider resolved from it. */
export interface ConsoleProvider {
  readonly entry: StoredProvider;
  /** Null: it cannot be used. */
  readonly provider: UpstreamProvider | null;
  /** What is wrong with it, as sentences for the operator; null: nothing. */
  readonly problem: string | null;
}

/** Decrypts an entry's credential, sealed for this origin; null if it cannot be decrypted. */
export type OpenCredential = (entry: StoredProvider, origin: string) => Secret | null;

/** Resolves each entry against this configuration. */
export function resolveConsoleProviders(
  config: Config,
  entries: readonly StoredProvider[],
  openCredential: OpenCredential,
): readonly ConsoleProvider[] {
  return entries.map((entry) => {
    const provider = resolveEntry(config, entry, openCredential);
    return typeof provider === 'string'
      ? { entry, provider: null, problem: provider }
      : { entry, provider, problem: null };
  });
}

function resolveEntry(config: Config, entry: StoredProvider, openCredential: OpenCredential) {
  if (config.providers.has(entry.name)) {
    return 'The configuration has a provider of this name, which is used instead. Take this one away, and add it under another name.';
  }
  const preset = presetOfKind(entry.kind);
  if (preset === undefined) return `This version does not know the kind ${quoteText(entry.kind)}.`;
  const address = readConsoleAddress(entry.kind, entry.baseUrl, config.server);
  if ('found' in address)
    return `Its address is not used: found ${address.found}, expected ${address.expected}. ${address.advice}`;
  const secret = entry.sealed === null ? null : openCredential(entry, address.origin);
  if (entry.sealed !== null && secret === null) {
    return 'Its credential cannot be opened: the master key is another one, or the database was changed. Enter the credential again.';
  }
  const kind = preset?.kind ?? 'openai-compatible';
  const { name } = entry;
  const provider = buildUpstreamProvider({ name, kind, preset, address, secret, timeouts: config.timeouts });
  return config.server.privateOrigins.includes(address.origin) ? provider : { ...provider, publicOnly: true as const };
}

/** All models including those of the console's providers, and the entries with the problems found. */
export interface ModelsWithConsole {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly providers: readonly ConsoleProvider[];
}

/**
 * Adds the models of the console's providers. A name that the configuration serves stays unchanged; if two entries
 * share a name, the earlier one answers, and the other becomes its next target.
 */
export function addConsoleModels(
  configured: ReadonlyMap<string, ServedModel>,
  providers: readonly ConsoleProvider[],
  listCatalogNames: ListCatalogNames,
): ModelsWithConsole {
  const models = new Map(configured);
  const judged = providers.map((one) => {
    const { entry, provider } = one;
    if (provider === null) return one;
    const listed = entry.models.length > 0 ? entry.models : listKnown(provider, listCatalogNames);
    const taken = listed.filter(({ name }) => configured.has(name)).map(({ name }) => name);
    for (const model of listed) if (!configured.has(model.name)) addTarget(models, model, provider);
    return taken.length === 0 || entry.models.length === 0 ? one : { ...one, problem: sayTaken(taken) };
  });
  return { models, providers: judged };
}

function listKnown({ catalogProvider }: UpstreamProvider, listCatalogNames: ListCatalogNames): readonly EnteredModel[] {
  const names = catalogProvider === null ? [] : listCatalogNames(catalogProvider);
  return names.map((name) => ({ name, upstream: name }));
}

function addTarget(models: Map<string, ServedModel>, { name, upstream }: EnteredModel, provider: UpstreamProvider) {
  const target = withCatalog({ provider, model: upstream, timeouts: provider.timeouts });
  const earlier = models.get(name);
  models.set(
    name,
    earlier === undefined
      ? {
          name,
          alias: [],
          protocols: CLIENT_PROTOCOL_NAMES,
          targets: [target],
          capabilities: NO_CAPABILITIES,
          price: null,
        }
      : { ...earlier, targets: [...earlier.targets, target] },
  );
}

function sayTaken(taken: readonly string[]): string {
  const shown = taken.slice(0, 5).map(quoteText).join(', ');
  const more = taken.length > 5 ? ` and ${taken.length - 5} more` : '';
  return `The configuration serves ${shown}${more} itself: calls go where it says, and not here. Give the models of this provider other names.`;
}

/** Names that no public server has: RFC 6761, RFC 6762, and the name that ICANN reserved for private use in 2024. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa|lan|intranet)$/;

/**
 * Why the address cannot be used; null: the address itself shows no reason. A user with write access to the console
 * need not have access to the file: addresses reachable only from this machine must be in the file.
 */
export function checkConsoleAddress({ origin }: BaseUrl, privateOrigins: readonly string[]): Fault | null {
  if (privateOrigins.includes(origin)) return null;
  const { protocol, hostname } = new URL(origin);
  const advice = `Write ${origin} under server.private_origins in the configuration file if it is meant.`;
  if (protocol !== 'https:') return { found: quoteText(origin), expected: 'an https:// address', advice };
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const address = parseIpAddress(host);
  const isPublic = address === null ? host.includes('.') && !LOCAL_NAME.test(host) : isPublicAddress(address);
  return isPublic ? null : { found: quoteText(origin), expected: 'a host of the public internet', advice };
}
