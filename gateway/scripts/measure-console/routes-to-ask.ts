/**
 * Lists the console API requests to measure: each route of its table that reads account data, as the pages request it.
 */
import { CONSOLE_ROUTES, type ConsoleRoute, rowOf } from '../../src/console-api/contract/contract.ts';
import { askOf } from '../../test/console-api/sample-asks.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** In a path: the end of the current minute, where the ranges of the pages end. */
const NOW = 'NOW';
const DAYS = [1, 7, 30, 90];
const GROUPINGS = [
  'model',
  'provider',
  'key',
  'member',
  'workspace',
  'end_user',
  'session',
  'protocol',
  'model,key',
  'model,provider',
  'key,protocol',
  'end_user,workspace',
  'session,workspace',
];
/** Requested in several ways below, or files whose size depends on their range. */
const ASKED_BELOW = ['/home', '/usage', '/usage.csv', '/usage/proof', '/logs', '/logs.csv'];

/** Name → path with its query, below `/app/api`, for `askNow`. */
export async function routesToAsk(url: string, key: string, account: string): Promise<Record<string, string>> {
  const nowMs = Date.now();
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const range = (days: number) => `from=${new Date(hourMs - days * DAY_MS).toISOString()}&to=${NOW}`;
  const own = `/accounts/${account}`;
  const [newest, old] = await Promise.all([
    newestCall(url, key, `${own}/logs?limit=1`),
    newestCall(
      url,
      key,
      `${own}/logs?limit=1&from=${new Date(nowMs - 90 * DAY_MS).toISOString()}&to=${new Date(nowMs - 80 * DAY_MS).toISOString()}`,
    ),
  ]);
  const names = {
    account,
    workspace: 'default',
    key: newest.key_id,
    model: 'ok',
    provider: 'lab',
    request: newest.request_id,
  };
  const routes: Record<string, string> = {};
  for (const route of Object.keys(CONSOLE_ROUTES) as ConsoleRoute[]) {
    const path = route.replace(/^GET \/accounts\/\{account\}/, '');
    if (path === route || ASKED_BELOW.includes(path) || rowOf(route).reply === 'csv') continue;
    if (path === '/views') {
      process.stdout.write(`${route}: not measured, only users have views\n`);
      continue;
    }
    // The folder has no alerts.
    const missing = [...path.matchAll(/\{(\w+)\}/g)].filter(([, name = '']) => !(name in names));
    if (missing.length > 0) {
      process.stdout.write(`${route}: not measured, the folder has no ${missing.map(([, name]) => name).join(', ')}\n`);
      continue;
    }
    routes[route] = askOf(route, names)
      .replace('GET ', '')
      .replace('session=run-1', `session=${newest.session ?? 'none'}`);
  }
  routes['GET /status'] = '/status';
  routes['an old call'] = `${own}/logs/${old.request_id}`;
  for (const span of ['24h', '7d', '30d']) routes[`home, ${span}`] = `${own}/home?range=${span}`;
  for (const days of DAYS) {
    for (const by of GROUPINGS) {
      routes[`usage, ${days} days by ${by}`] = `${own}/usage?${range(days)}&by=${by}&metric=cost&compare=before`;
    }
    routes[`usage, ${days} days by model, percentiles`] = `${own}/usage?${range(days)}&by=model&metric=latency_p95`;
    routes[`usage, ${days} days of a key`] = `${own}/usage?${range(days)}&by=model&metric=cost&key=key_default_39`;
    routes[`logs, ${days} days`] = `${own}/logs?${range(days)}`;
    for (const filter of [
      'model=model-11',
      'key=key_default_39',
      'end_user=user-2000',
      `session=${newest.session ?? 'none'}`,
      'outcome=server_error',
      'workspace=default-w0',
    ]) {
      routes[`logs, ${days} days, ${filter}`] = `${own}/logs?${range(days)}&${filter}`;
    }
  }
  return routes;
}

/** The path as it is requested at this moment. */
export function askNow(path: string): string {
  return path.replaceAll(NOW, new Date(Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS).toISOString());
}

interface NewestCall {
  readonly request_id: string;
  readonly key_id: string;
  readonly session: string | null;
}

async function newestCall(url: string, key: string, path: string): Promise<NewestCall> {
  const response = await fetch(`${url}/app/api${path}`, { headers: { authorization: `Bearer ${key}` } });
  const { calls } = (await response.json()) as { calls: NewestCall[] };
  const [newest] = calls;
  if (newest === undefined) throw new Error(`${path}: found no call`);
  return newest;
}
