/**
 * Owns when the library behind sign-in is loaded and set up: at the first request that needs it, so that a start pays nothing;
 * for another service when somebody goes there, anew after a failure.
 */

import { hkdfSync } from 'node:crypto';
import { Secret } from '../../lib/secret.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import { PeopleFailure } from '../people-failure.ts';
import type { AuthEngine, OidcService } from './auth-engine.ts';

export interface AuthEngines {
  /** For passwords and second factors. Speaks to nobody. */
  own(): Promise<AuthEngine>;
  /** @throws PeopleFailure `not_found`, or `gateway_fault` where the service cannot be asked what it is. */
  ofService(id: string): Promise<AuthEngine>;
}

interface EnginesParts {
  readonly people: PeopleStore;
  readonly secret: Secret;
  /** The services of the running configuration. */
  services(): readonly OidcService[];
  /** What people reach the gateway at, without a slash at the end; null where the configuration does not say. */
  publicUrl(): string | null;
  nowMs(): number;
  /** What the library says of a sign-in that it did not let through, for the operator. Holds no secret. */
  onWords(words: string): void;
}

/** Stands where no address is needed. */
const NO_ADDRESS = 'http://localhost';

export function createAuthEngines({ people, secret, services, publicUrl, nowMs, onWords }: EnginesParts): AuthEngines {
  let own: Promise<AuthEngine> | null = null;
  /** Services of a configuration that was replaced go with it. */
  const byService = new WeakMap<OidcService, Promise<AuthEngine>>();

  async function make(service: OidcService | null): Promise<AuthEngine> {
    const { createAuthEngine } = await import('./auth-engine.ts');
    return createAuthEngine({
      people,
      secret,
      baseUrl: publicUrl() ?? NO_ADDRESS,
      onWords,
      service: service === null ? null : { of: service, mayEnter },
    });
  }

  /** Whoever has an account here, or an invitation that waits for him. */
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
    throw new PeopleFailure(
      'gateway_fault',
      `${service.name} could not be asked how to sign in there (${service.issuer}); try again, or sign in another way`,
      { page: '/app/sign-in' },
    );
  }

  return {
    own: () => (own ??= make(null)),
    async ofService(id) {
      const service = services().find((one) => one.id === id);
      if (service === undefined) {
        throw new PeopleFailure('not_found', 'there is no such service to sign in by', { page: '/app/sign-in' });
      }
      const made = byService.get(service) ?? makeForService(service);
      byService.set(service, made);
      made.catch(() => byService.delete(service));
      return made;
    },
  };
}

/** Derived from the master key (64 hex characters) and from nothing else, so that it holds over restarts. 64 hex characters. */
export function deriveAuthSecret(masterKey: Secret): Secret {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate people v1', 32);
  return new Secret(Buffer.from(derived).toString('hex'));
}
