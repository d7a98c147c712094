/**
 * Loads the project's own small fixtures of provider interactions. We invented them, so tests may rely on their words.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Usage } from '../../src/generation/usage.ts';
import type { Protocol } from './protocol.ts';

/** The subject of a fixture and what a correct parser finds in it. */
export interface FixtureMeta {
  readonly about: string;
  readonly status: number;
  readonly stream: boolean;
  /**
   * `complete` a good end; `error` an error body or in-band error; `truncated` the protocol's last event is missing.
   */
  readonly end: 'complete' | 'error' | 'truncated';
  readonly usage: Usage | null;
  /** The text of the answer, all text parts joined; absent for errors. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Fixture {
  readonly protocol: Protocol;
  readonly name: string;
  readonly meta: FixtureMeta;
  readonly request: Readonly<Record<string, unknown>>;
  readonly requestBytes: Uint8Array;
  readonly responseBytes: Uint8Array;
}

const FIXTURES_DIR = resolve(import.meta.dir, '../fixtures');

/** Returns the names of a protocol's fixtures, sorted; a protocol of providers only has none. */
export function listFixtures(protocol: Protocol): string[] {
  const dir = join(FIXTURES_DIR, protocol);
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Loads one fixture; null if it does not exist. */
export function loadFixture(protocol: Protocol, name: string): Fixture | null {
  const dir = join(FIXTURES_DIR, protocol, name);
  if (!/^[a-z0-9-]+$/.test(name) || !existsSync(dir)) return null;
  const meta: FixtureMeta = JSON.parse(readFileSync(join(dir, 'meta.json'), 'utf8'));
  const requestBytes = new Uint8Array(readFileSync(join(dir, 'request.json')));
  const request: Record<string, unknown> = JSON.parse(new TextDecoder().decode(requestBytes));
  const responseFile = existsSync(join(dir, 'response.sse')) ? 'response.sse' : 'response.json';
  const responseBytes = new Uint8Array(readFileSync(join(dir, responseFile)));
  return { protocol, name, meta, request, requestBytes, responseBytes };
}
