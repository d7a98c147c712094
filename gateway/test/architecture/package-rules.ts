/** Checks package.json files and the lock file: few dependencies, exact versions, no registry host. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree, Violation } from './source-tree.ts';

const RUNTIME_DEPENDENCIES_MAX = 24;
/** The runtime itself is not counted. */
const RUNTIME = 'bun';
const MANIFESTS = ['package.json', 'gateway/package.json', 'console/package.json', 'gateway/test/clients/package.json'];
/** The second one is for the real clients that only tests need. */
const LOCKS = ['package-lock.json', 'gateway/test/clients/package-lock.json'];
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** Every dependency has one exact version. */
export function exactVersions({ root }: Tree): Violation[] {
  return MANIFESTS.flatMap((manifest) =>
    KINDS.flatMap((kind) =>
      Object.entries(dependencies(root, manifest, kind))
        .filter(([, version]) => !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
        .map(([name, version]) => `${manifest}: ${kind} ${name} is ${version}; write one exact version`),
    ),
  );
}

/** The gateway depends on at most 24 packages in addition to the runtime. */
export function fewDependencies({ root }: Tree): Violation[] {
  const names = Object.keys(dependencies(root, 'gateway/package.json', 'dependencies')).filter(
    (name) => name !== RUNTIME,
  );
  if (names.length <= RUNTIME_DEPENDENCIES_MAX) return [];
  return [`gateway/package.json: ${names.length} runtime dependencies; at most ${RUNTIME_DEPENDENCIES_MAX}`];
}

/** The lock file names no host, so that any registry can serve it. */
export function hostlessLock({ root }: Tree): Violation[] {
  return presentLocks(root).flatMap((lock) =>
    readFileSync(join(root, lock), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /"resolved":\s*"(https?|git)[^"]*"/.test(line)
          ? [`${lock}:${index + 1}: names a host; write the file with omit-lockfile-registry-resolved=true`]
          : [],
      ),
  );
}

/**
 * The lock file holds an entry for every optional package that another one names, so for every platform. npm leaves out
 * what its registry could not serve while the file was written, and `npm ci` then refuses the file on every machine.
 */
export function wholeLock({ root }: Tree): Violation[] {
  return presentLocks(root).flatMap((lock) => {
    const { packages = {} }: LockFile = JSON.parse(readFileSync(join(root, lock), 'utf8'));
    return Object.entries(packages).flatMap(([holder, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !(`${holder}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages))
        .map((name) => `${lock}: ${holder} may need ${name}, which has no entry; npm ci fails without it`),
    );
  });
}

function presentLocks(root: string): string[] {
  return LOCKS.filter((lock) => existsSync(join(root, lock)));
}

interface LockFile {
  readonly packages?: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
}

function dependencies(root: string, manifest: string, kind: string): Record<string, string> {
  const file = join(root, manifest);
  if (!existsSync(file)) return {};
  const parsed: Record<string, Record<string, string> | undefined> = JSON.parse(readFileSync(file, 'utf8'));
  return parsed[kind] ?? {};
}
