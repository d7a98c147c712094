/**
 * Loads the sign-in library at the first request that needs it, so that start-up is not delayed, and creates one
 * instance per service, and one for passwords, on first use, or again after a failure. Also derives the library's secret and tells its refusals
 * from faults.
 */
import { hkdfSync } from 'node:crypto';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { Secret } from '../../lib/secret.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import type { AuthEngine, OidcService } from './auth-engine.ts';

export interface AuthEngines {
  /** For passwords and second factors. Makes no network connections. */
  own(): Promise<AuthEngine>;
  /** @throws ConsoleFailure `not_found`, or `gateway_fault` where the service's discovery document can't be fetched. */
  ofService(id: string): Promise<AuthEngine>;
}

interface EnginesParts {
  readonly people: PeopleStore;
  readonly secret: Secret;
  /** The services of the running configuration. */
  services(): readonly OidcService[];
  /** The gateway's public address, without a trailing slash; null where the configuration has none. */
  publicUrl(): string | null;
  nowMs(): number;
  /** Receives the library's messages about refused sign-ins, for the operator. Contains no secret. */
  onRejected(cause: string): void;
}

/** Used where the library needs no real address. */
const NO_ADDRESS = 'http://localhost';

export function createAuthEngines({
  people,
  secret,
  services,
  publicUrl,
  nowMs,
  onRejected,
}: EnginesParts): AuthEngines {
  let own: Promise<AuthEngine> | null = null;
  /** Weak, so that services of a replaced configuration are dropped. */
  const byService = new WeakMap<OidcService, Promise<AuthEngine>>();

  async function make(service: OidcService | null): Promise<AuthEngine> {
    const { createAuthEngine } = await import('./auth-engine.ts');
    return createAuthEngine({
      people,
      secret,
      baseUrl: publicUrl() ?? NO_ADDRESS,
      onRejected,
      service: service === null ? null : { of: service, mayEnter },
    });
  }

  /** Whether the user has an account here or an open invitation. */
  async function mayEnter({ email, isNew }: { readonly email: string; readonly isNew: boolean }): Promise<boolean> {
    if (!isNew) return true;
    const invitations = await people.find('invitation', {
      where: [
        ['email', 'is', email],
        ['accepted_at_ms', 'is', null],
        ['expires_at_ms', '>', nowMs()],
      ],
      limit: 1,
    });
    return invitations.length > 0;
  }

  async function makeForService(service: OidcService): Promise<AuthEngine> {
    const engine = await make(service);
    const { socialProviders } = await engine.$context;
    const found = await (typeof socialProviders === 'function' ? [] : socialProviders);
    if (found.some(({ id }) => id === service.id)) return engine;
    throw new ConsoleFailure(
      'gateway_fault',
      `${service.name} could not be reached (${service.issuer}); try again, or use another sign-in method`,
      { page: '/app/sign-in' },
    );
  }

  return {
    own() {
      own ??= make(null).catch((fault: unknown) => {
        own = null;
        throw fault;
      });
      return own;
    },
    async ofService(id) {
      const service = services().find((one) => one.id === id);
      if (service === undefined) {
        throw new ConsoleFailure('not_found', 'there is no such sign-in service', { page: '/app/sign-in' });
      }
      const made = byService.get(service) ?? makeForService(service);
      byService.set(service, made);
      made.catch(() => byService.delete(service));
      return made;
    },
  };
}

/** Derived only from the master key (64 hex characters), so that it survives restarts. 64 hex characters. */
export function deriveAuthSecret(masterKey: Secret): Secret {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate people v1', 32);
  return new Secret(Buffer.from(derived).toString('hex'));
}

/** The library's result, or `refused`; other errors are rethrown after `withdraw`. */
export async function orRefusal<Reply>(ask: () => Promise<Reply>, withdraw: () => void): Promise<Reply | 'refused'> {
  try {
    return await ask();
  } catch (fault) {
    if (isRefusal(fault)) return 'refused';
    withdraw();
    throw fault;
  }
}

/** Checked by shape: importing the library's class would load the whole library at every start. */
function isRefusal(fault: unknown): boolean {
  return fault instanceof Error && fault.name === 'APIError' && 'statusCode' in fault && Number(fault.statusCode) < 500;
}
