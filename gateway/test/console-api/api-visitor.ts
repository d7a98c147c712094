/** Calls the console API of a running gateway over HTTP, as a browser or a script does. */
import type { Role } from '../../src/people/roles.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';

export interface Asked {
  /** Written as JSON. Default: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response body; tests name the members that they check. */
type Loose = ReturnType<typeof JSON.parse>;

export interface Answered {
  readonly status: number;
  readonly text: string;
  /** Null if the response is not JSON. */
  readonly json: Loose;
  readonly headers: Headers;
}

export interface ApiVisitor {
  /** `route`: method and path below `/app/api`, with its query. */
  ask(route: string, probe?: Asked): Promise<Answered>;
}

/** A visitor with a page's cookies. */
export interface Person extends ApiVisitor {
  /** The cookies that a browser would have now, by name. */
  cookies(): ReadonlyMap<string, string>;
}

export const PASSWORD = 'correct horse battery staple';
export const OWNER = { name: 'Ada Lovelace', email: 'ada@example.com', password: PASSWORD } as const;

/** Opens a visitor with a page's cookies, or none yet. */
export function openPerson(url: string): Person {
  const cookies = new Map<string, string>();
  return {
    cookies: () => cookies,
    async ask(route, { body, headers = {} } = {}) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const own = {
        origin: new URL(url).origin,
        'sec-fetch-site': 'same-origin',
        ...(cookie === '' ? {} : { cookie }),
      };
      const answered = await send(url, route, body, { ...own, ...headers });
      for (const line of answered.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/max-age=0(;|$)/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answered;
    },
  };
}

/** Opens a script with an API key. */
export function openScript(url: string, key: string): ApiVisitor {
  return {
    ask: (route, { body, headers = {} } = {}) => send(url, route, body, { authorization: `Bearer ${key}`, ...headers }),
  };
}

let addressCount = 0;

/**
 * Each request comes from a different network, as reported by a trusted proxy, because attempts without sign-in are
 * limited by network. Without such a proxy the gateway ignores the header.
 */
function newAddress(): string {
  addressCount++;
  return `2001:db8:${(addressCount >> 16).toString(16)}:${(addressCount & 0xffff).toString(16)}::1`;
}

async function send(url: string, route: string, body: unknown, headers: Record<string, string>): Promise<Answered> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(`${url}/app/api${path}`, {
    method,
    redirect: 'manual',
    headers: {
      'x-forwarded-for': newAddress(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, text, json: isJson ? JSON.parse(text) : null, headers: response.headers };
}

/** Returns the response's JSON; throws with it if the status is not 200. */
export async function must(probe: Promise<Answered>): Promise<Loose> {
  const { status, text, json } = await probe;
  if (status !== 200) throw new Error(`expected 200, found ${status}: ${text}`);
  return json;
}

/** Returns the path of the page that creates the first owner, from the server's first output. */
export function setupLinkOf(gateway: RunningGateway): string {
  const link = /\S+\/app\/setup\?token=\S+/.exec(gateway.stdout())?.[0];
  if (link === undefined) throw new Error(`no set-up link in the first words:\n${gateway.stdout()}`);
  return link;
}

/** Creates the first owner and signs in. */
export async function setUpOwner(gateway: RunningGateway): Promise<Person> {
  const token = new URL(setupLinkOf(gateway)).searchParams.get('token');
  const owner = openPerson(gateway.url);
  await must(owner.ask('POST /setup', { body: { ...OWNER, token, workspace: null } }));
  return owner;
}

/** Adds a provider that no test calls, with one model. */
export async function addProvider(
  owner: ApiVisitor,
  name: string,
  { model, credentials = {} }: { readonly model: string; readonly credentials?: Readonly<Record<string, string>> },
): Promise<void> {
  const base_url = `https://${name}.example.com/v1`;
  const models = [{ name: model, upstream: 'small' }];
  const body = { name, kind: 'openai-compatible', base_url, credentials, models };
  await must(owner.ask('POST /accounts/default/providers', { body }));
}

export interface Member extends Person {
  readonly person: string;
  readonly email: string;
}

/** Invites a new member to an account in the name of `host`, and signs them in. */
export async function inviteMember(
  url: string,
  host: ApiVisitor,
  given: { readonly account: string; readonly role: Role; readonly workspaces?: readonly string[] | null },
): Promise<Member> {
  const { account, role, workspaces = null } = given;
  const email = `${role}${workspaces === null ? '' : '-of-some'}@${account}.example`;
  const invited = await must(host.ask(`POST /accounts/${account}/invitations`, { body: { email, role, workspaces } }));
  const member = openPerson(url);
  const body = { name: `The ${role} of ${account}`, password: PASSWORD };
  const accepted = await must(member.ask(`POST /invitations/${String(invited.link).split('/').at(-1)}`, { body }));
  return { ...member, person: accepted.person.id, email };
}
