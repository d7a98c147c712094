/**
 * Resolves the server settings, limits, time limits and defaults: the environment first, then the file, then the
 * built-in value. Opens no port.
 */

import { resolve } from 'node:path';
import { parseByteSize, parseDurationMs } from '../lib/quantity.ts';
import type { Timeouts } from '../providers/provider.ts';
import { type EgressProxy, parseDirectRule, parseProxyAddress } from '../upstream/egress-proxy.ts';
import {
  type Config,
  DEFAULT_BROKEN_ANSWERS,
  DEFAULT_CONSOLE,
  DEFAULT_HOLDS,
  DEFAULT_HOST,
  DEFAULT_LOG_BODIES,
  DEFAULT_PORT,
  DEFAULT_PUBLIC_STATUS,
  DEFAULT_RETENTION_DAYS,
  DEFAULT_STORE_RESPONSES,
  DEFAULT_UNPRICED,
  DEFAULT_WEBSOCKET,
  type Defaults,
  type OidcConfig,
  type ServerConfig,
  type SmtpConfig,
} from './config.ts';
import { type ConfigProblem, environmentProblem, quoteText, type Report } from './file/config-problem.ts';
import type { FileShape } from './file/file-schema.ts';
import type { TimeoutsShape } from './file/provider-schema.ts';
import { listenHost, listenPort } from './file/scalar-schema.ts';
import type { Environment } from './file/yaml-tree.ts';
import { LIMITS, type LimitName, type Limits } from './limits.ts';

/** HOST and PORT, else the file's values, else the defaults. A bad variable is added to `problems`. */
export function resolveServer(
  shape: FileShape['server'],
  environment: Environment,
  problems: ConfigProblem[],
): Omit<ServerConfig, 'oidc' | 'smtp'> {
  const read = <Value>(
    variable: 'HOST' | 'PORT',
    schema: { safeParse(text: string): { readonly data?: Value | undefined } },
    expected: string,
  ): Value | undefined => {
    const text = environment[variable];
    if (!text) return undefined;
    const { data } = schema.safeParse(text);
    const fault = { found: quoteText(text), expected, advice: `Correct ${variable}, or unset it.` };
    if (data === undefined) problems.push(environmentProblem(variable, fault));
    return data;
  };
  const host = read('HOST', listenHost, 'an address or host name');
  const port = read('PORT', listenPort, 'a port from 0 to 65535');
  return {
    host: host ?? shape?.host ?? DEFAULT_HOST,
    port: port ?? shape?.port ?? DEFAULT_PORT,
    publicUrl: shape?.public_url?.url ?? null,
    trustedProxies: shape?.trusted_proxies ?? [],
    console: (shape?.console ?? DEFAULT_CONSOLE) === 'on',
    websocket: (shape?.websocket ?? DEFAULT_WEBSOCKET) === 'on',
    publicStatus: shape?.public_status ?? DEFAULT_PUBLIC_STATUS,
    privateOrigins: (shape?.private_origins ?? []).map(({ origin }) => origin),
    tls: shape?.tls === undefined ? null : { cert: resolve(shape.tls.cert), key: resolve(shape.tls.key) },
    egressProxy: resolveEgressProxy(shape?.egress_proxy, environment, problems),
  };
}

type EgressProxyShape = NonNullable<FileShape['server']>['egress_proxy'];

/**
 * The file's proxy, else that of `https_proxy` or `HTTPS_PROXY` with the exceptions of `no_proxy` or `NO_PROXY`; as for
 * curl, the lower-case name goes first, and an empty value does not count.
 */
function resolveEgressProxy(
  shape: EgressProxyShape,
  environment: Environment,
  problems: ConfigProblem[],
): EgressProxy | null {
  if (shape !== undefined) {
    return { ...shape.url, credentials: shape.credentials ?? null, direct: shape.no_proxy ?? [] };
  }
  const [variable, text] = readEither(environment, 'https_proxy');
  if (text === '') return null;
  const address = parseProxyAddress(text);
  if (address === null) {
    problems.push(
      environmentProblem(variable, {
        found: 'a value that is hidden here',
        expected: 'an address such as http://proxy.example:3128 (http only, perhaps with user:password@)',
        advice: `Correct ${variable}, or unset it.`,
      }),
    );
    return null;
  }
  const [listVariable, list] = readEither(environment, 'no_proxy');
  const entries = list.split(/[\s,]+/).filter((entry) => entry !== '');
  const bad = entries.find((entry) => parseDirectRule(entry) === null);
  if (bad !== undefined) {
    problems.push(
      environmentProblem(listVariable, {
        found: quoteText(bad),
        expected: 'hosts such as example.com, .example.com, 10.0.0.0/8, example.com:8443 or *, separated by commas',
        advice: `Correct ${listVariable}, or set server.egress_proxy in the file instead.`,
      }),
    );
  }
  return { ...address, direct: entries.flatMap((entry) => parseDirectRule(entry) ?? []) };
}

function readEither(environment: Environment, name: string): [variable: string, text: string] {
  const lower = environment[name];
  return lower ? [name, lower] : [name.toUpperCase(), environment[name.toUpperCase()] ?? ''];
}

/** Environment settings that this version does not support: starting without them would put data in the wrong place. */
export function findUnsupported(environment: Environment): ConfigProblem[] {
  return ['DATABASE_URL', 'REDIS_URL']
    .filter((variable) => environment[variable])
    .map((variable) =>
      environmentProblem(variable, {
        found: 'a value',
        expected: 'none: this version keeps everything in its data folder, on one machine',
        advice: `Unset ${variable}.`,
      }),
    );
}

/** Every choice but the routing, defaults filled in. */
export function resolveDefaults(shape: FileShape['defaults']): Omit<Defaults, 'routing'> {
  return {
    holds: shape?.holds ?? DEFAULT_HOLDS,
    unpriced: shape?.unpriced ?? DEFAULT_UNPRICED,
    brokenAnswers: shape?.broken_answers ?? DEFAULT_BROKEN_ANSWERS,
    logBodies: shape?.log_bodies ?? DEFAULT_LOG_BODIES,
    storeResponses: (shape?.store_responses ?? DEFAULT_STORE_RESPONSES) === 'on',
    retentionDays: shape?.retention ?? DEFAULT_RETENTION_DAYS,
  };
}

/** The services of the file, in its order. A service with a problem is reported and omitted. */
export function resolveOidc(shape: FileShape['server'], report: Report): readonly OidcConfig[] {
  const services: OidcConfig[] = [];
  for (const [index, given] of (shape?.oidc ?? []).entries()) {
    if (services.some(({ id }) => id === given.id)) {
      report(['server', 'oidc', index, 'id'], {
        found: `${quoteText(given.id)} twice`,
        expected: 'a unique id for each service',
        advice: 'Give it another id.',
      });
      continue;
    }
    services.push({
      id: given.id,
      name: given.name,
      issuer: given.issuer.url,
      clientId: given.client_id,
      clientSecret: given.client_secret,
      allowedDomains: given.allowed_domains?.map((domain) => domain.toLowerCase()) ?? null,
    });
  }
  if (services.length > 0 && shape?.public_url === undefined) {
    report(['server', 'oidc'], {
      found: 'sign-in services without public_url',
      expected: 'public_url: the services redirect to it',
      advice: 'Add public_url under server, and register its /app/api/sign-in/oidc/ID/callback at each service.',
    });
  }
  return services;
}

const SMTP_PORTS = { starttls: 587, tls: 465, none: 25 } as const;

/** Null: none is configured, or it has a problem, which is reported. */
export function resolveSmtp(shape: FileShape['server'], report: Report): SmtpConfig | null {
  const given = shape?.smtp;
  if (given === undefined) return null;
  const { host, encryption = 'starttls', user, password = null, from } = given;
  if (shape?.public_url === undefined) {
    report(['server', 'smtp'], {
      found: 'smtp without public_url',
      expected: 'public_url: links in messages begin with it',
      advice: 'Add public_url under server.',
    });
    return null;
  }
  if ((user === undefined) !== (password === null)) {
    report(['server', 'smtp'], {
      found: user === undefined ? 'a password without user' : 'a user without password',
      expected: 'both, or none',
      advice: user === undefined ? 'Add user.' : 'Add password.',
    });
    return null;
  }
  if (password !== null && encryption === 'none') {
    report(['server', 'smtp', 'encryption'], {
      found: 'none with a password',
      expected: 'starttls or tls: the password would be sent in plain text',
      advice: 'Choose starttls or tls, or remove user and password.',
    });
    return null;
  }
  const login = user === undefined || password === null ? null : { user, password };
  return { host, port: given.port ?? SMTP_PORTS[encryption], encryption, login, from };
}

const PARSE_DEFAULT = { bytes: parseByteSize, duration: parseDurationMs, count: Number } as const;

/** Every limit as a number, defaults filled in. */
export function resolveLimits(shape: FileShape['limits']): Limits {
  const entries = (Object.keys(LIMITS) as LimitName[]).map((name) => {
    const row = LIMITS[name];
    return [row.member, shape?.[name] ?? PARSE_DEFAULT[row.unit](row.default)];
  });
  return Object.fromEntries(entries) as Limits;
}

/** The time limits of providers that set none. */
export function chooseDefaultTimeouts(limits: Limits): Timeouts {
  return {
    connectMs: limits.connectTimeoutMs,
    firstByteMs: limits.firstByteTimeoutMs,
    firstBytePlainMs: limits.firstBytePlainTimeoutMs,
    idleMs: limits.idleTimeoutMs,
    totalMs: limits.totalTimeoutMs,
  };
}

/** The given time limits, overridden by the file's. */
export function resolveTimeouts(shape: TimeoutsShape | undefined, outer: Timeouts): Timeouts {
  return {
    connectMs: shape?.connect ?? outer.connectMs,
    firstByteMs: shape?.first_byte ?? outer.firstByteMs,
    firstBytePlainMs: shape?.first_byte_plain ?? outer.firstBytePlainMs,
    idleMs: shape?.idle ?? outer.idleMs,
    totalMs: shape?.total ?? outer.totalMs,
  };
}

/** The maximum total time limit, in milliseconds, of all providers and targets. */
export function longestCallMs({
  timeouts,
  providers,
  models,
}: Pick<Config, 'timeouts' | 'providers' | 'models'>): number {
  let longest = timeouts.totalMs;
  for (const provider of providers.values()) {
    longest = Math.max(longest, provider.timeouts?.totalMs ?? 0);
  }
  for (const { targets } of models?.values() ?? []) {
    for (const target of targets) longest = Math.max(longest, target.timeouts?.totalMs ?? 0);
  }
  return longest;
}
