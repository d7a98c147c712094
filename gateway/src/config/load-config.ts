/**
 * Loads a configuration from a file and an environment, or reports everything that is wrong with them. Starts nothing.
 */

import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { demo, localProvider } from '../providers/kinds/demo.ts';
import type { Provider } from '../providers/provider.ts';
import { type Config, DEFAULT_DATA_DIR, DEFAULT_FILE, DEFAULT_ROUTING } from './config.ts';
import { type DiscoveredProviders, discoverProviders } from './discover-providers.ts';
import { type ConfigProblem, type Fault, nameUnreadable, type PathStep, renderPath } from './file/config-problem.ts';
import { explainIssue } from './file/explain-issue.ts';
import { type FileShape, fileSchema } from './file/file-schema.ts';
import { type Environment, hasPlaceholders, type ReadYaml, readYamlTree } from './file/yaml-tree.ts';
import { resolveModels } from './resolve-models.ts';
import { resolveProviders } from './resolve-providers.ts';
import { resolveRouting } from './resolve-routing.ts';
import {
  chooseDefaultTimeouts,
  findUnsupported,
  resolveDefaults,
  resolveLimits,
  resolveOidc,
  resolveServer,
  resolveSmtp,
} from './resolve-settings.ts';
import { resolveTelemetry } from './resolve-telemetry.ts';

export interface ConfigSource {
  /** As named by `--config`; if absent: TOLLGATE_CONFIG, else `tollgate.yaml` if it exists. */
  readonly file?: string | undefined;
  /** For `${NAME}`, credentials, HOST, PORT and TOLLGATE_*; command-line flags are added here as their variables. */
  readonly environment: Environment;
  /** The base of relative paths. */
  readonly cwd: string;
}

export type LoadedConfig =
  | {
      readonly config: Config;
      /** There is no file, or none with a member. */
      readonly isEmpty: boolean;
      readonly problems: readonly [];
    }
  | { readonly config: null; readonly problems: readonly [ConfigProblem, ...ConfigProblem[]] };

/**
 * Loads the configuration: at start, and again at each reload. Never throws because of the file or the environment; all
 * problems are in `problems`, in the order of the file.
 */
export function loadConfig({ file, environment, cwd }: ConfigSource): LoadedConfig {
  const problems: ConfigProblem[] = [...findUnsupported(environment)];
  const read = readConfigFile(file, environment, cwd);
  if (read.kind === 'unreadable') problems.push(read.problem);
  const parsed = read.kind === 'read' ? parseFile(read.text, read.source, environment) : EMPTY_FILE;
  problems.push(...parsed.problems);
  const server = resolveServer(parsed.shape.server, environment, problems);
  const limits = resolveLimits(parsed.shape.limits);
  const timeouts = chooseDefaultTimeouts(limits);
  const surroundings = { timeouts, privateOrigins: server.privateOrigins };
  const report = (path: readonly PathStep[], fault: Fault, at = 'value') => {
    const place = at === 'name' ? parsed.yaml?.nameAt(path) : parsed.yaml?.placeOf(path);
    const source = read.kind === 'read' ? read.source : 'environment';
    problems.push({
      source,
      line: place?.line ?? null,
      column: place?.column ?? null,
      path: renderPath(path),
      ...fault,
    });
  };
  const shapes = parsed.shape.providers;
  const readable = read.kind !== 'unreadable' && parsed.problems.length === 0;
  const discovered = shapes === undefined && readable ? discoverProviders(environment, timeouts) : NOTHING_DISCOVERED;
  problems.push(...discovered.problems);
  const found = shapes === undefined ? discovered.providers : resolveProviders(shapes, surroundings, report);
  const routing = resolveRouting(parsed.shape.defaults?.routing, DEFAULT_ROUTING, (path, fault) => {
    report(['defaults', 'routing', ...path], fault);
  });
  const builtIn = shapes === undefined && found.size === 0;
  const providers = builtIn ? new Map([[demo.name, localProvider(demo.name, demo)]]) : found;
  const models =
    parsed.shape.models === undefined
      ? null
      : resolveModels(parsed.shape.models, providers, new Set(Object.keys(shapes ?? {})), routing, report);
  const telemetry = resolveTelemetry(parsed.shape.telemetry, environment, problems);
  const oidc = resolveOidc(parsed.shape.server, report);
  const smtp = resolveSmtp(parsed.shape.server, report);
  const [first, ...others] = problems;
  if (first !== undefined) return { config: null, problems: [first, ...others] };
  return {
    config: {
      file: read.kind === 'read' ? read.path : null,
      dataDir: resolve(cwd, environment.TOLLGATE_DATA_DIR || DEFAULT_DATA_DIR),
      server: { ...server, oidc, smtp },
      limits,
      defaults: { ...resolveDefaults(parsed.shape.defaults), routing },
      telemetry,
      timeouts,
      providersFrom: shapes !== undefined ? 'file' : builtIn ? 'built-in' : 'environment',
      providers,
      models,
      notes: [
        ...discovered.notes,
        ...noteSharedLimits(providers),
        ...(models === null ? noteSilentProviders(providers) : []),
      ],
    },
    isEmpty: Object.keys(parsed.shape).length === 0,
    problems: [],
  };
}

const NOTHING_DISCOVERED: DiscoveredProviders = { providers: new Map(), notes: [], problems: [] };

interface ParsedFile {
  /** Empty if there are problems. */
  readonly shape: FileShape;
  readonly yaml: ReadYaml | null;
  readonly problems: readonly ConfigProblem[];
}

const EMPTY_FILE: ParsedFile = { shape: {}, yaml: null, problems: [] };

function parseFile(text: string, source: string, environment: Environment): ParsedFile {
  const yaml = readYamlTree(text, source, environment);
  const shape = fileSchema.safeParse(yaml.tree ?? {});
  const problems = [...yaml.problems];
  const already = new Set(problems.map((problem) => problem.path));
  // Without a tree, the parser has already reported everything.
  const issues = yaml.tree === null ? [] : (shape.error?.issues ?? []);
  for (const problem of issues.flatMap((issue) => explainIssue(issue, yaml, source))) {
    if (!already.has(problem.path)) problems.push(problem);
  }
  problems.sort((left, right) => (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0));
  return { shape: problems.length === 0 && shape.success ? shape.data : {}, yaml, problems };
}

/** Without `models`, a provider that the catalog does not know serves nothing; the operator should know. */
function noteSilentProviders(providers: ReadonlyMap<string, Provider>): string[] {
  return [...providers.values()]
    .filter((provider) => provider.kind.local === null && provider.catalogProvider === null)
    .map(
      ({ name }) =>
        `Provider ${name} serves no model yet: the catalog lists none for it. Name its models under models.`,
    );
}

/** Keys of one organization share its limits: pooled for more headroom, they disappoint. */
function noteSharedLimits(providers: ReadonlyMap<string, Provider>): string[] {
  return [...providers.values()].flatMap(({ name, credentials }) => {
    const pool = credentials?.pool ?? [];
    const organisations = [...new Set(pool.map(({ organisation }) => organisation))];
    return organisations.flatMap((organisation) => {
      const names = pool.filter((one) => one.organisation === organisation).map((one) => one.name);
      const of = organisation === null ? 'without organisation' : `of the organization ${organisation}`;
      return names.length < 2
        ? []
        : [
            `Provider ${name}: the keys ${of} (${names.join(', ')}) share one set of rate limits; together they add none.`,
          ];
    });
  });
}

const FILE_BYTES_MAX = 1024 * 1024;

type ConfigFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly path: string; readonly source: string; readonly text: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly problem: ConfigProblem };

/**
 * The file named on the command line, else by TOLLGATE_CONFIG, else `tollgate.yaml` in the working directory if it
 * exists. A file that was named must exist.
 */
function readConfigFile(named: string | undefined, environment: Environment, cwd: string): ConfigFile {
  const name = named || environment.TOLLGATE_CONFIG || null;
  const source = name ?? DEFAULT_FILE;
  const path = resolve(cwd, source);
  const unreadable = (fault: Fault, line: number | null = null): ConfigFile => ({
    kind: 'unreadable',
    path,
    problem: { source, line, column: line === null ? null : 1, path: '', ...fault },
  });
  let bytes: Buffer;
  try {
    bytes = readUpTo(path, FILE_BYTES_MAX + 1);
  } catch (error) {
    if (name === null && error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'none' };
    return unreadable({
      found: nameUnreadable(error),
      expected: 'a readable file',
      advice: `Look for it at ${path}.`,
    });
  }
  if (bytes.length > FILE_BYTES_MAX) {
    return unreadable({ found: 'more than 1 MiB', expected: 'a file of at most 1 MiB', advice: 'Make it smaller.' });
  }
  if (!isUtf8(bytes)) return unreadable(NOT_UTF8, lineOfBadByte(bytes));
  const text = bytes.toString('utf8');
  const badLine = text.split('\n').findIndex((line) => hasPlaceholders(line) || line.includes('\0'));
  if (badLine !== -1) return unreadable(ODD_CHARACTER, badLine + 1);
  return { kind: 'read', path, source, text };
}

function readUpTo(path: string, bytesMax: number): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(bytesMax);
    let length = 0;
    while (length < bytesMax) {
      const count = readSync(descriptor, bytes, length, bytesMax - length, null);
      if (count === 0) break;
      length += count;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

function lineOfBadByte(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1 && isUtf8(bytes.subarray(start, end)); line++) {
    start = end + 1;
    end = bytes.indexOf(0x0a, start);
  }
  return line;
}

const NOT_UTF8: Fault = {
  found: 'bytes that are not UTF-8',
  expected: 'a text file in UTF-8',
  advice: 'Save the file as UTF-8.',
};
const ODD_CHARACTER: Fault = {
  found: 'a NUL or private-use character',
  expected: 'ordinary text',
  advice: 'Remove the character; editors may not show it.',
};
