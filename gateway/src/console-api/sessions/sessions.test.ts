/** Tests sessions over the console API: sums and order, pages, a reader's workspaces, and the comparison of stored prompts. */
import { afterAll, describe, expect, test } from 'bun:test';
import type { CallContent } from '../../store/ports/content.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { CallDetail } from '../../store/ports/usage.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import type { Reply } from '../contract/contract.ts';
import { type Tenancy, tenancyOf } from '../kernel/actor.ts';
import { person } from '../testing/policy-rig.ts';
import { BOUND, costOf, NOW_MS, OWNER, openUsageRig, START_MS } from '../testing/usage-rig.ts';
import { type SessionParts, sessionListHandlers } from './sessions.ts';

const newFolder = temporaryFolders();
let opened: ReturnType<typeof openUsageRig> | null = null;
const rig = () => {
  opened ??= openUsageRig(newFolder(), 500);
  return opened;
};
afterAll(async () => (await opened)?.store.close());

const RANGE = `from=${new Date(START_MS).toISOString()}&to=${new Date(NOW_MS + 1).toISOString()}`;
type List = Reply<'GET /accounts/{account}/sessions'>;
type Turns = Reply<'GET /accounts/{account}/session-turns'>;

async function listAll(grant = OWNER, more = ''): Promise<List['sessions']> {
  const { get } = await rig();
  const sessions: List['sessions'] = [];
  for (let before = ''; ; ) {
    const reply = await get(`/accounts/default/sessions?${RANGE}&limit=40${more}${before}`, [grant]);
    const page = (await reply.json()) as List;
    sessions.push(...page.sessions);
    if (page.next === null) return sessions;
    before = `&before=${page.next}`;
  }
}

const named = ({ account, session }: CallRecord) => account === 'default' && session !== null;

describe('the list', () => {
  test('has every session once, and the costs of its requests', async () => {
    const { calls } = await rig();
    const sessions = await listAll();
    const own = calls.filter(named);
    expect(sessions.map(({ session }) => session).sort()).toEqual(
      [...new Set(own.map(({ session }) => session ?? ''))].sort(),
    );
    for (const { session, requests, cost_nano_usd, first_at } of sessions.slice(0, 10)) {
      const of = own.filter((call) => call.session === session);
      expect([requests, cost_nano_usd]).toEqual([of.length, costOf(of)]);
      expect(Date.parse(first_at)).toBe(Math.min(...of.map(({ at_ms }) => at_ms)));
    }
  });

  test('is that of the reader’s workspaces', async () => {
    const { calls } = await rig();
    const own = calls.filter((call) => named(call) && call.workspace === 'default-w0');
    const sessions = await listAll(BOUND);
    expect(sessions.reduce((sum, { requests }) => sum + requests, 0)).toBe(own.length);
    expect(own.length).toBeGreaterThan(0);
  });

  test('takes the query of Logs, and refuses a search for text', async () => {
    const { calls, get } = await rig();
    const found = await listAll(OWNER, '&q=status:429');
    const own = calls.filter((call) => named(call) && call.status === 429);
    expect(found.reduce((sum, { requests, errors }) => sum + requests + errors, 0)).toBe(2 * own.length);
    expect((await get(`/accounts/default/sessions?${RANGE}&q=hello`)).status).toBe(400);
  });
});

describe('one session', () => {
  const turnsOf = async (session: string, more = '', grant = OWNER) =>
    (await rig()).get(`/accounts/default/session-turns?session=${encodeURIComponent(session)}${more}`, [grant]);

  test('lists its requests in order, page by page, with the sums of all', async () => {
    const { calls } = await rig();
    const [longest] = (await listAll()).toSorted((one, other) => other.requests - one.requests);
    if (longest === undefined || longest.requests < 2) throw new Error('no session has two requests');
    const own = calls.filter((call) => named(call) && call.session === longest.session);
    const newest = (await (await turnsOf(longest.session, '&limit=1')).json()) as Turns;
    expect(newest.session.requests).toBe(own.length);
    const older = (await (await turnsOf(longest.session, `&before=${newest.next}`)).json()) as Turns;
    const ids = [...older.turns, ...newest.turns].map(({ request_id }) => request_id);
    expect(ids).toEqual(own.map(({ request_id }) => request_id).sort());
    expect(older.next).toBeNull();
  });

  test('of other workspaces or accounts does not exist', async () => {
    const { calls } = await rig();
    const mine = new Set(
      calls.filter((call) => named(call) && call.workspace === 'default-w0').map(({ session }) => session),
    );
    const other = calls.find((call) => named(call) && !mine.has(call.session));
    expect((await turnsOf(other?.session ?? '', '', BOUND)).status).toBe(404);
    expect((await turnsOf('no such session')).status).toBe(404);
    expect((await turnsOf('')).status).toBe(400);
  });
});

describe('the comparison of stored prompts', () => {
  const BODIES: Readonly<Record<string, string>> = {
    req_1: '{"messages":[{"role":"user","content":"a"}]}',
    req_2: '{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}',
    req_3: '{"messages":[{"role":"user","content":"c"}]}',
    req_cut: '{"messages":[{"role":"user","content":"',
  };
  const stored = (id: string): CallContent => {
    const bytes = Buffer.from(BODIES[id] ?? '');
    const request = { bytes, totalBytes: id === 'req_cut' ? 9_999 : bytes.length };
    return {
      requestId: id,
      account: 'team',
      workspace: 'w',
      atMs: 1,
      protocol: 'chat',
      status: 200,
      stream: false,
      request,
      upstreamRequest: 'same',
      response: request,
      upstreamResponse: null,
    };
  };

  async function compare(
    request: string,
    previous: string,
    role: 'owner' | 'viewer' = 'owner',
    workspaces: string[] | null = null,
  ) {
    const unreadable: string[] = [];
    const parts = {
      usage: {
        readCall: async (
          tenant: { readonly workspaces: readonly string[] | null },
          id: string,
        ): Promise<CallDetail | null> =>
          id === 'req_none' || tenant.workspaces?.includes('w') === false
            ? null
            : { call: sampleRecord(id), entries: [] },
      },
      content: {
        find: async (_: string, id: string) => (id in BODIES || id === 'req_bad' ? 'w' : null),
        read: async (_: string, id: string) => {
          if (id === 'req_bad') throw new Error('damaged');
          return stored(id);
        },
      },
      onUnreadable: (id: string) => unreadable.push(id),
    } as unknown as SessionParts;
    const whole: Tenancy | null = tenancyOf(person('per_1', 'team', role), 'team');
    const tenancy = { ...whole, workspaces };
    const handler = sessionListHandlers(parts)['GET /accounts/{account}/cache-break'];
    const reply = await handler({ tenancy, query: { request, previous } } as unknown as Parameters<typeof handler>[0]);
    return { ...reply, unreadable };
  }

  test('says what differs, or that the beginning is the same', async () => {
    expect(await compare('req_2', 'req_1')).toMatchObject({ outcome: 'same', block: null, index: null });
    expect(await compare('req_3', 'req_1')).toMatchObject({ outcome: 'differs', block: 'history', index: 0 });
    expect(await compare('req_cut', 'req_1')).toMatchObject({ outcome: 'incomparable' });
    expect(await compare('req_bad', 'req_1')).toMatchObject({ outcome: 'unreadable', unreadable: ['req_bad'] });
  });

  test('says nothing of prompts that are not stored, or not for the reader', async () => {
    expect(await compare('req_2', 'req_old')).toMatchObject({ outcome: 'not_stored' });
    expect(await compare('req_3', 'req_1', 'viewer')).toMatchObject({ outcome: 'hidden', block: null, index: null });
    await expect(compare('req_3', 'req_1', 'owner', ['other'])).rejects.toThrow('this account has no request');
    await expect(compare('req_none', 'req_1')).rejects.toThrow('this account has no request');
  });
});
