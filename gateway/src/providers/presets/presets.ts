/**
 * Lists well-known providers: address, the environment variable of the credential, and deviations from the format, as
 * data. Makes no calls.
 */

import type { Preset } from '../provider.ts';
import { HOSTS } from './hosts.ts';
import { LOCAL_SERVERS } from './local.ts';
import { VENDORS } from './vendors.ts';

/** As of November 2026. Order matters if two providers serve a model of one name: the earlier one gets the call. */
export const PRESETS: readonly Preset[] = [...VENDORS, ...HOSTS, ...LOCAL_SERVERS];

/** The origin of a preset's address; null: each account has its own address. */
export function originOf(preset: Preset): string | null {
  return addressOf(preset)?.origin ?? null;
}

/** Its address, and the origin of it; null: each account has its own. */
export function addressOf({ baseUrl }: Preset): { readonly url: string; readonly origin: string } | null {
  return baseUrl.includes('{') ? null : { url: baseUrl, origin: new URL(baseUrl).origin };
}

/** The preset of that name, or undefined. */
export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}
