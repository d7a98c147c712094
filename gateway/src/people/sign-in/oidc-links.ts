/**
 * Links services to the signed-in user and unlinks them. Other sign-in methods stay, and linking does not verify an
 * address.
 */
import { createHash } from 'node:crypto';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import type { SignInMethods } from '../members/sign-in-methods.ts';
import type { RelyingParty } from '../passkeys/relying-party.ts';
import type { PeopleEventKind, RecordEvent } from '../people-event.ts';
import { type Arrival, inwardHeaders, SESSION_COOKIE, STATE_COOKIE, sendCookies } from './auth-cookies.ts';
import type { AuthEngines } from './auth-engines.ts';
import type { Caller, FreshProof } from './credentials.ts';
import type { Sessions } from './sessions.ts';

export interface LinkedService {
  readonly id: string;
  readonly name: string;
  readonly isLinked: boolean;
}

export interface ServiceLinks {
  /** The configured services, and linked ones that are no longer configured. */
  list(person: string): Promise<readonly LinkedService[]>;
  /**
   * The address to redirect the browser to. @throws ConsoleFailure as FreshProof, `not_found`, `conflict` where it is
   * linked
   */
  start(who: Caller, service: string, password: string | null, outgoing: Headers): Promise<string>;
  /** The person who started linking with this `state`; null: it was started for a sign-in, or is unknown. */
  findPerson(state: string | undefined): Promise<string | null>;
  /** Handles the callback of the service for `person`. Returns the page to continue at. */
  finish(arrival: Arrival, person: string, service: string, query: ReturnQuery, outgoing: Headers): Promise<string>;
  /** @throws ConsoleFailure `not_found`, `conflict` where it is the last sign-in method */
  remove(who: Caller, service: string, party: RelyingParty | null): Promise<void>;
}

/** The query parameters of a service's callback. */
export type ReturnQuery = Readonly<Record<string, string | undefined>>;

interface LinksParts {
  readonly people: PeopleStore;
  readonly engines: AuthEngines;
  readonly sessions: Sessions;
  readonly proveFresh: FreshProof;
  readonly waysIn: SignInMethods;
  services(): readonly { readonly id: string; readonly name: string }[];
  readonly note: RecordEvent;
  nowMs(): number;
}

const PAGE = '/app/me';

export function createServiceLinks(parts: LinksParts): ServiceLinks {
  const { people, engines, sessions, proveFresh, waysIn, services, note, nowMs } = parts;

  async function listLinked(person: string): Promise<readonly string[]> {
    const methods = await people.find('sign_in_method', { where: [['person', 'is', person]] });
    return methods.map(({ provider }) => provider).filter((provider) => provider !== 'credential');
  }

  async function recordAct(
    { signedIn: { person }, arrival }: Caller,
    act: PeopleEventKind,
    service: string,
  ): Promise<void> {
    const { id, name } = person;
    const change =
      act === 'person.service_linked' ? { before: null, after: { service } } : { before: { service }, after: null };
    const common = { account: null, ...change, address: arrival.address, atMs: nowMs() };
    await note({ act, actor: { id, name }, subject: { kind: 'person', id }, ...common });
  }

  return {
    async list(person) {
      const linked = await listLinked(person);
      const known = services().map(({ id, name }) => ({ id, name, isLinked: linked.includes(id) }));
      const others = linked.filter((id) => known.every((one) => one.id !== id));
      return [...known, ...others.map((id) => ({ id, name: id, isLinked: true }))];
    },

    async start(who, service, password, outgoing) {
      const { api } = await engines.ofService(service);
      if ((await listLinked(who.signedIn.person.id)).includes(service)) {
        throw new ConsoleFailure(
          'conflict',
          'this service is already linked; unlink it before you link another user of it',
          { page: PAGE },
        );
      }
      await proveFresh(who, password);
      const { headers, response } = await api.linkSocialAccount({
        body: { provider: service, callbackURL: PAGE, errorCallbackURL: PAGE, disableRedirect: true },
        headers: inwardHeaders(who.arrival, [SESSION_COOKIE]),
        returnHeaders: true,
      });
      if (response.url === '') throw new Error(`no address to link ${service} at came`);
      sendCookies(headers, who.arrival, outgoing);
      return response.url;
    },

    async findPerson(state) {
      if (state === undefined) return null;
      // The library stores its steps under this hash.
      const name = createHash('sha256').update(state).digest('base64url');
      const [step] = await people.find('sign_in_step', { where: [['name', 'is', name]] });
      // The steps of a second factor contain no JSON.
      return step?.value.startsWith('{') === true ? (JSON.parse(step.value).link?.userId ?? null) : null;
    },

    async finish(arrival, person, service, query, outgoing) {
      const signedIn = await sessions.find(arrival);
      if (signedIn?.person.id !== person) return `${PAGE}?error=signed_in_as_another`;
      const { api } = await engines.ofService(service);
      const reply = await api.callbackOAuth({
        method: 'GET',
        params: { id: service },
        query,
        headers: inwardHeaders(arrival, [STATE_COOKIE]),
        asResponse: true,
      });
      const location = reply.headers.get('location') ?? '';
      if (location !== PAGE) return location.startsWith(`${PAGE}?`) ? location : `${PAGE}?error=failed`;
      await sessions.rotate(signedIn, arrival, outgoing);
      await recordAct({ signedIn, arrival }, 'person.service_linked', service);
      return location;
    },

    async remove(who, service, party) {
      const person = who.signedIn.person.id;
      await waysIn.oneByOne(async () => {
        const isLinked = service !== 'credential' && (await listLinked(person)).includes(service);
        if (!isLinked) {
          throw new ConsoleFailure('not_found', 'this service is not linked; it may have been unlinked', {
            page: PAGE,
          });
        }
        await waysIn.requireAnother(person, { service }, party);
        const remove = [
          ['person', 'is', person],
          ['provider', 'is', service],
        ] as const;
        await people.save([{ of: 'sign_in_method', remove, rows: null }]);
      });
      await recordAct(who, 'person.service_unlinked', service);
    },
  };
}
