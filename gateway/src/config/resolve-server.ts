/** Resolves the server settings and the defaults: the environment first, then the file. Opens no port. */
import {
  DEFAULT_BROKEN_ANSWERS,
  DEFAULT_CONSOLE,
  DEFAULT_HOLDS,
  DEFAULT_HOST,
  DEFAULT_LOG_BODIES,
  DEFAULT_PORT,
  DEFAULT_PUBLIC_STATUS,
  DEFAULT_RETENTION_DAYS,
  DEFAULT_UNPRICED,
  type Defaults,
  type OidcConfig,
  type ServerConfig,
} from './config.ts';
import { type ConfigProblem, environmentProblem, quoteText, type Report } from './file/config-problem.ts';
import type { Environment } from './file/environment-text.ts';
import type { FileShape } from './file/file-schema.ts';
import { listenHost, wholeNumber } from './file/scalar-schema.ts';

/** HOST and PORT, else the file's values, else the defaults. A bad variable is added to `problems`. */
export function resolveServer(
  shape: FileShape['server'],
  environment: Environment,
  problems: ConfigProblem[],
): Omit<ServerConfig, 'oidc'> {
  const host = environment.HOST ? listenHost.safeParse(environment.HOST) : null;
  const port = environment.PORT ? wholeNumber(0, 65_535).safeParse(environment.PORT) : null;
  if (host?.success === false) {
    const advice = 'Correct HOST, or unset it.';
    problems.push(
      environmentProblem('HOST', {
        found: quoteText(environment.HOST ?? ''),
        expected: 'an address or host name',
        advice,
      }),
    );
  }
  if (port?.success === false) {
    const advice = 'Correct PORT, or unset it.';
    problems.push(
      environmentProblem('PORT', {
        found: quoteText(environment.PORT ?? ''),
        expected: 'a port from 0 to 65535',
        advice,
      }),
    );
  }
  return {
    host: host?.data ?? shape?.host ?? DEFAULT_HOST,
    port: port?.data ?? shape?.port ?? DEFAULT_PORT,
    publicUrl: shape?.public_url?.url ?? null,
    trustedProxies: shape?.trusted_proxies ?? [],
    console: (shape?.console ?? DEFAULT_CONSOLE) === 'on',
    publicStatus: shape?.public_status ?? DEFAULT_PUBLIC_STATUS,
    privateOrigins: (shape?.private_origins ?? []).map(({ origin }) => origin),
  };
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

/** Every choice, defaults filled in. */
export function resolveDefaults(shape: FileShape['defaults']): Defaults {
  return {
    holds: shape?.holds ?? DEFAULT_HOLDS,
    unpriced: shape?.unpriced ?? DEFAULT_UNPRICED,
    brokenAnswers: shape?.broken_answers ?? DEFAULT_BROKEN_ANSWERS,
    logBodies: shape?.log_bodies ?? DEFAULT_LOG_BODIES,
    retentionDays: shape?.retention ?? DEFAULT_RETENTION_DAYS,
  };
}

/** The services of the file, in its order. A service with a problem is reported and omitted. */
export function resolveOidc(shape: FileShape['server'], report: Report): readonly OidcConfig[] {
  const services: OidcConfig[] = [];
  for (const [index, given] of (shape?.oidc ?? []).entries()) {
    if (services.some(({ id }) => id === given.id)) {
      report(['server', 'oidc', index, 'id'], {
        found: `${quoteText(given.id)} a second time`,
        expected: 'an id of its own for each service',
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
      found: 'services to sign in by, and no public_url',
      expected: 'public_url beside them: the services send people back to it',
      advice: 'Add public_url under server, and register its /app/api/sign-in/oidc/ID/callback at each service.',
    });
  }
  return services;
}
