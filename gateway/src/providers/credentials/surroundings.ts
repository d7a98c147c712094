/**
 * Gives credential sources what they read of this machine: variables, files, the clock, and a `fetch` that reaches
 * metadata servers and AWS STS. Nothing that is entered in the console can choose one of these addresses.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createGuardedFetch, type Fetch } from '../../upstream/guarded-fetch.ts';

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of a file. Rejects as `node:fs` does. */
  readFile(path: string): Promise<string>;
  /** The same for settings, which are found while the configuration is read. Throws as `node:fs` does. */
  readFileNow(path: string): string;
  readonly fetch: Fetch;
  /** For sources that bind their addresses themselves: to Google, to Microsoft, or to what the operator's file names. */
  readonly fetchBound: Fetch;
  /** Unix milliseconds. */
  nowMs(): number;
  /** A sentence for the operator's log, without any secret. */
  warn(message: string): void;
}

/** The text of a file. Rejects with a sentence that begins with `name`. */
export async function readText(surroundings: Surroundings, path: string, name: string): Promise<string> {
  const text = await readIfThere(surroundings, path, name);
  if (text === null) throw new Error(`${name} cannot be read (ENOENT)`);
  return text;
}

/** Null: there is no such file. */
export async function readIfThere({ readFile }: Surroundings, path: string, name: string): Promise<string | null> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return null;
    throw new Error(`${name} cannot be read (${code})`);
  }
}

/** The text of a file, for settings. Empty: it cannot be read, which a credential in it says at its first use. */
export function readIfReadable({ readFileNow }: Surroundings, path: string): string {
  try {
    return readFileNow(path);
  } catch {
    return '';
  }
}

/** Addresses that only this machine or this container can reach, and that give out its credentials. */
export const METADATA_HOSTS: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
]);

const STS_HOST = /^sts\.[a-z0-9-]{1,32}\.amazonaws\.(?:com|com\.cn|eu)$/;

/** Whether a host is this machine, by its address or name in a URL. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Within a private network the names of STS have private addresses, too. */
export function isTrustedForCredentials(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' ? STS_HOST.test(hostname) : METADATA_HOSTS.has(hostname) || isLoopback(hostname);
}

let report: (message: string) => void = () => undefined;

/** Sets where warnings about credentials go, from now on. */
export function setCredentialWarnings(next: (message: string) => void): void {
  report = next;
}

/** Those of this process. */
export const SURROUNDINGS: Surroundings = {
  environment: process.env,
  readFile: (path) => readFile(path, 'utf8'),
  readFileNow: (path) => readFileSync(path, 'utf8'),
  fetch: createGuardedFetch(isTrustedForCredentials),
  fetchBound: createGuardedFetch(() => true),
  nowMs: Date.now,
  warn: (message) => report(message),
};
