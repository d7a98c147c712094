/** Runs a console API over a real store with its own clock, and browsers that send requests and hold cookies. */

import { openPeople } from '../../app/open-people.ts';
import type { Config, OidcConfig, SmtpConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { FROM_COMMAND_LINE } from '../../control/command.ts';
import { createControl } from '../../control/control.ts';
import { UNKNOWN_ROUTING } from '../../control/testing/unknown-routing.ts';
import { followKeys, type KeyDirectory, loadKeyDirectory } from '../../identity/key-directory.ts';
import type { SendMail } from '../../mail/mailer.ts';
import { createLinkMakers, createVerifyEmail } from '../../people/members/operator-tools.ts';
import { createSetUp, type SetUp } from '../../people/members/set-up.ts';
import type { PeopleEvent } from '../../people/people-event.ts';
import { createMakerReader } from '../../people/roles.ts';
import { createChangeFeed, publishChanges } from '../../store/memory/change-feed.ts';
import type { PeopleTable } from '../../store/ports/people.ts';
import type { Store } from '../../store/ports/store.ts';
import { loadMasterKey } from '../../store/sqlite/database/master-key.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { LineWriter } from '../../telemetry/line-writer.ts';
import { createLog } from '../../telemetry/log.ts';
import { createIdentify } from '../kernel/actor.ts';
import { createConsoleApi } from '../kernel/console-api.ts';
import { meHandlers, passkeyHandlers } from '../people/me.ts';
import { invitationHandlers, memberHandlers, resetHandlers } from '../people/members.ts';
import { sessionHandlers, setUpHandlers, signInHandlers } from '../people/sign-in.ts';
import { withRest } from './rest-of-routes.ts';

export interface Asked {
  readonly body?: unknown;
  /** Called when the body is asked for, which arrives once it resolves. */
  readonly beforeBody?: () => Promise<void>;
  readonly headers?: { readonly [name: string]: string };
  readonly address?: string;
}

/** Replies are untyped; a test names the members that it checks. */
type Loose = ReturnType<typeof JSON.parse>;

export interface Answered {
  readonly status: number;
  readonly json: Record<string, Loose>;
  readonly headers: Headers;
}

export interface Browser {
  /** By name, as set by the server. */
  readonly cookies: Map<string, string>;
  /** The `set-cookie` lines of the last response. */
  setCookies: string[];
  ask(route: string, sent?: Asked): Promise<Answered>;
}

export interface PeopleRig {
  readonly dataDir: string;
  readonly store: Store;
  readonly directory: KeyDirectory;
  readonly setUp: SetUp;
  readonly notes: PeopleEvent[];
  readonly faults: string[];
  nowMs: number;
  /** By how much the system clock is wrong. */
  clockAheadMs: number;
  run(name: string, given: object): Promise<Record<string, Loose>>;
  /** A browser that opened the console at an origin. */
  browser(origin?: string): Browser;
  close(): Promise<void>;
}

export const OWNER = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' } as const;

interface Settings {
  readonly oidc?: readonly OidcConfig[];
  readonly publicUrl?: string | null;
  readonly smtp?: SmtpConfig | null;
  readonly sendMail?: SendMail;
}

const neverSend: SendMail = () => Promise.reject(new Error('no mail server is configured'));

/** Opens an installation before set-up. */
export async function openPeopleRig(
  dataDir: string,
  { oidc = [], publicUrl = null, smtp = null, sendMail = neverSend }: Settings = {},
): Promise<PeopleRig> {
  const changes = createChangeFeed();
  const store = publishChanges(await openStore({ dataDir }), changes);
  const masterKey = loadMasterKey(dataDir).key;
  const readMakers = createMakerReader(store.people);
  const directory = await loadKeyDirectory(store.policies, masterKey, readMakers);
  changes.subscribe(followKeys(directory, store.policies, readMakers));
  const notes: PeopleEvent[] = [];
  const faults: string[] = [];
  const setUp = createSetUp(store.people, () => rig.nowMs);
  const control = createControl({
    reconciliations: store.reconciliations,
    alerts: store.alerts,
    views: store.views,
    guardrails: store.guardrails,
    tryGuardrail: null,
    statements: store.statements,
    policies: store.policies,
    ledger: store.ledger,
    directory,
    limits: { get: () => null },
    credit: (_account, _amount, move) => move(),
    links: { ...createLinkMakers(store.people, () => rig.nowMs), served: () => null },
    users: { verifyEmail: createVerifyEmail(store.people) },
    modelNames: () => null,
    routing: UNKNOWN_ROUTING,
    nowMs: () => rig.nowMs,
  });
  const { config } = loadConfig({ cwd: dataDir, environment: {}, file: undefined });
  if (config === null) throw new Error('the empty configuration has problems');
  const served: Config = { ...config, server: { ...config.server, oidc, publicUrl, smtp } };
  const people = openPeople({
    people: store.people,
    changes,
    setUp,
    directory,
    control,
    masterKey,
    log: createLog(new LineWriter(2)),
    note: (note) => void notes.push(note),
    config: () => served,
    sendMail,
    suggestModel: () => 'demo',
    pause: async () => undefined,
    nowMs: () => rig.nowMs + rig.clockAheadMs,
    steadyNowMs: () => rig.nowMs,
  });
  const api = createConsoleApi({
    handlers: withRest({
      ...sessionHandlers(people),
      ...setUpHandlers(people),
      ...signInHandlers(people),
      ...meHandlers(people),
      ...passkeyHandlers(people),
      ...invitationHandlers(people),
      ...resetHandlers(people),
      ...memberHandlers(people),
    }),
    identify: createIdentify({ sessions: people.sessions, directory, nowMs: () => rig.nowMs }),
    hasAccount: (account) => directory.accounts.has(account),
    onFault: (route, cause) => faults.push(`${route} ${cause instanceof Error ? cause.stack : String(cause)}`),
  });

  const rig: PeopleRig = {
    dataDir,
    store,
    directory,
    setUp,
    notes,
    faults,
    nowMs: Date.now(),
    clockAheadMs: 0,
    async run(name, given) {
      const reply = await control.run(name, given, FROM_COMMAND_LINE);
      if (!reply.ok) throw new Error(reply.message);
      return reply.result as Record<string, unknown>;
    },
    browser: (origin = 'http://gw.test') => openBrowser(origin),
    close: () => store.close(),
  };

  function openBrowser(origin: string): Browser {
    const cookies = new Map<string, string>();
    const browser: Browser = {
      cookies,
      setCookies: [],
      async ask(route, { body, beforeBody, headers = {}, address = '192.0.2.1' } = {}) {
        const [method = '', path = ''] = route.split(' ');
        const request = new Request(`http://gw.test/app/api${path}`, {
          method,
          headers: {
            host: new URL(origin).host,
            'user-agent': 'a browser',
            ...(cookies.size === 0
              ? {}
              : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
            ...(method === 'GET' ? {} : { 'sec-fetch-site': 'same-origin', origin }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: arriving(JSON.stringify(body), beforeBody) }),
        });
        const response = await api.fetch(request, address);
        browser.setCookies = response.headers.getSetCookie();
        for (const line of browser.setCookies) keepCookie(cookies, line);
        const text = await response.text();
        return { status: response.status, json: text === '' ? {} : JSON.parse(text), headers: response.headers };
      },
    };
    return browser;
  }
  return rig;
}

function arriving(text: string, before: Asked['beforeBody']): ReadableStream<Uint8Array> | string {
  if (before === undefined) return text;
  return new ReadableStream(
    {
      async pull(stream) {
        await before();
        stream.enqueue(new TextEncoder().encode(text));
        stream.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = '', ...flags] = line.split(';').map((part) => part.trim());
  const split = pair.indexOf('=');
  if (flags.some((flag) => /^max-age=0$/i.test(flag))) cookies.delete(pair.slice(0, split));
  else cookies.set(pair.slice(0, split), pair.slice(split + 1));
}

/** Sets up the console and returns the owner's signed-in browser. */
export async function setUpOwner(rig: PeopleRig, origin?: string): Promise<Browser> {
  const link = await rig.setUp.makeLink();
  if (link === null) throw new Error('it was set up already');
  const browser = rig.browser(origin);
  const answered = await browser.ask('POST /setup', { body: { ...OWNER, token: link.token, workspace: null } });
  if (answered.status !== 200) throw new Error(JSON.stringify(answered.json));
  return browser;
}

/** Carries out `work` just before the next row of the table is stored. */
export function beforeInsert({ store: { people } }: PeopleRig, table: PeopleTable, work: () => Promise<void>): void {
  const { save } = people;
  people.save = async (changes) => {
    if (changes.some((change) => change.of === table && 'insert' in change)) {
      people.save = save;
      await work();
    }
    return save(changes);
  };
}

/** Invites a member and returns their signed-in browser. */
export async function inviteMember(
  rig: PeopleRig,
  owner: Browser,
  given: { email: string; role: string; workspaces?: readonly string[] | null },
): Promise<Browser & { readonly person: string }> {
  const invited = await owner.ask('POST /accounts/default/invitations', { body: { workspaces: null, ...given } });
  if (invited.status !== 200) throw new Error(JSON.stringify(invited.json));
  const token = String(invited.json.link).split('/').at(-1);
  const browser = rig.browser();
  const body = { name: given.email, password: OWNER.password };
  const accepted = await browser.ask(`POST /invitations/${token}`, { body });
  if (accepted.status !== 200) throw new Error(JSON.stringify(accepted.json));
  return Object.assign(browser, { person: String(accepted.json.person.id) });
}

/** The token at the end of a reply's link. */
export function tokenOf(json: { readonly link?: unknown }): string {
  return String(json.link).split('/').at(-1) ?? '';
}

/** The state of the browser's session. */
export async function stateOf(browser: Browser): Promise<unknown> {
  return (await browser.ask('GET /session')).json.state;
}
