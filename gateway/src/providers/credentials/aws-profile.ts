/** Reads the profile that AWS tools would use from `~/.aws/config` and `~/.aws/credentials`. */
import { join } from 'node:path';
import { readIfReadable, readIfThere, type Surroundings } from './surroundings.ts';

/** The members of a profile, in lower case. */
export type AwsProfile = ReadonlyMap<string, string>;

export interface AwsProfiles {
  /** `AWS_PROFILE`, else `default`. */
  readonly chosen: string;
  readonly all: ReadonlyMap<string, AwsProfile>;
}

/** Rejects if a file exists and cannot be read, or `AWS_PROFILE` names a profile that does not exist. */
export async function readProfiles(surroundings: Surroundings): Promise<AwsProfiles> {
  const named = surroundings.environment.AWS_PROFILE;
  const { config, credentials } = filesOf(surroundings);
  const read = async (path: string) => (await readIfThere(surroundings, path, `the AWS file ${path}`)) ?? '';
  const all = joinProfiles(await read(config), await read(credentials));
  if (named && !all.has(named)) {
    throw new Error(`AWS_PROFILE names the profile ${named}, which is in neither ${config} nor ${credentials}`);
  }
  return { chosen: named || 'default', all };
}

/** The region of AWS's own tools: a variable's, else the profile's; null: neither names one. */
export function findRegion(surroundings: Surroundings): string | null {
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_PROFILE } = surroundings.environment;
  const named = AWS_REGION || AWS_DEFAULT_REGION;
  if (named) return named;
  const { config, credentials } = filesOf(surroundings);
  const all = joinProfiles(readIfReadable(surroundings, config), readIfReadable(surroundings, credentials));
  return all.get(AWS_PROFILE || 'default')?.get('region') ?? null;
}

function filesOf({ environment: { HOME, AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE } }: Surroundings) {
  const folder = join(HOME ?? '/', '.aws');
  return {
    config: AWS_CONFIG_FILE ?? join(folder, 'config'),
    credentials: AWS_SHARED_CREDENTIALS_FILE ?? join(folder, 'credentials'),
  };
}

/** From the texts of both files. */
function joinProfiles(config: string, credentials: string): AwsProfiles['all'] {
  const all = new Map<string, Map<string, string>>();
  for (const [section, members] of parseIni(config)) {
    const name = section === 'default' ? section : /^profile\s+(.+)$/.exec(section)?.[1];
    if (name !== undefined) all.set(unquote(name.trim()), members);
  }
  for (const [name, members] of parseIni(credentials)) {
    all.set(name, new Map([...(all.get(name) ?? []), ...members]));
  }
  return all;
}

/** Sections with their members; indented lines belong to a nested member, which no source of credentials has. */
function parseIni(text: string): ReadonlyMap<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let members: Map<string, string> | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '' || /^\s|^[#;]/.test(line)) continue;
    const section = /^\[([^\]]+)\]/.exec(line)?.[1]?.trim();
    if (section !== undefined) {
      members = sections.get(section) ?? new Map();
      sections.set(section, members);
      continue;
    }
    const at = line.indexOf('=');
    if (at === -1) continue;
    const value = line.slice(at + 1).replace(/\s[#;].*$/, '');
    members?.set(line.slice(0, at).trim().toLowerCase(), value.trim());
  }
  return sections;
}

function unquote(name: string): string {
  return /^"(.*)"$/.exec(name)?.[1] ?? name;
}
