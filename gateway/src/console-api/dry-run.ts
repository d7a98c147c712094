/** Owns what would become of a call of a model, step by step in words, by the functions that decide it for calls. Sends nothing. */
import { priceAt } from '../billing/price-book.ts';
import { priceWords } from '../billing/price-words.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { chooseRoute } from '../gateway/identify.ts';
import { authorize, type ModelRights } from '../identity/authorize.ts';
import type { Route } from '../routing/route.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { Reply } from './contract.ts';
import type { ConsoleCall } from './handlers.ts';
import type { ModelDesk } from './model-desk.ts';

type DryRunRoute = 'GET /accounts/{account}/models/{model}/dry-run';
type Step = Reply<DryRunRoute>['steps'][number];
type Asked = Pick<ConsoleCall<DryRunRoute>, 'tenancy' | 'path' | 'query'>;

/** A key that may do everything. */
const ANY_KEY: ModelRights = { keyAllows: () => true, workspaceAllows: () => true };

/** The steps. Throws `not_found` for a key that is not the caller's to see. */
export function dryRun(desk: ModelDesk, { tenancy, path, query }: Asked): Step[] {
  const rights = query.key === undefined ? ANY_KEY : rightsOfKey(desk, tenancy, query.key);
  if ('outcome' in rights) return [rights];
  try {
    const route = chooseRoute(desk.running().settings, rights, path.model, query.protocol);
    return explainRoute(desk, route, path.model, query.protocol);
  } catch (fault) {
    if (fault instanceof CallFailure) return [stops(`Refused: ${fault.message}.`)];
    throw fault;
  }
}

function stops(text: string): Step {
  return { outcome: 'stops', text };
}

/** The rights of a key over models, or where its calls end before a model is looked at. */
function rightsOfKey(
  { directory, nowMs }: ModelDesk,
  { account, workspaces }: Asked['tenancy'],
  id: string,
): ModelRights | Step {
  const key = directory.keys.get(id);
  const isSeen = key?.accountId === account && (workspaces === null || workspaces.includes(key.workspaceId));
  const entry = key === undefined ? undefined : directory.byHash.get(key.hash);
  if (!isSeen || entry === undefined) throw new ConsoleFailure('not_found', 'there is no such key', { member: 'key' });
  if (entry.status !== 'active') return stops(`Refused: the key is ${entry.status}.`);
  if (nowMs() >= entry.endsAtMs) return stops('Refused: the key has expired.');
  const { principal } = entry;
  // From where the call would come is not known here: every address is taken as one of the key's.
  const answer = authorize({ ...principal, ranges: null }, { scope: 'inference', address: null, modelNames: null });
  return answer === 'allowed'
    ? principal
    : stops('Refused: the key may not call models; it lacks the scope inference.');
}

function explainRoute(desk: ModelDesk, route: Route, asked: string, protocol: 'chat' | 'messages'): Step[] {
  const { upstream } = route;
  const { served } = desk.running();
  const targets = served.get(asked)?.targets ?? [];
  const named = asked === route.model ? '' : `${asked} is another name of ${route.model}. `;
  const place = targets.length > 1 ? `the first of ${targets.length} targets` : 'the only target';
  const spoken = upstream.protocols.includes(protocol)
    ? `it speaks ${protocol} itself, so bytes pass through`
    : `the call is translated from ${protocol} to ${upstream.protocols.join(' or ')}`;
  const goes = `${named}To ${nameOf(upstream)}: ${place}; ${spoken}. ${sayHealth(desk, upstream.provider)}${sayPrice(desk, route)}`;
  const [, ...others] = targets;
  if (others.length === 0) return [{ outcome: 'goes', text: goes }];
  const waiting = others
    .map((target) => nameOf({ provider: target.provider.name, model: target.model }))
    .join(', then ');
  return [
    { outcome: 'goes', text: goes },
    stops(
      `Where ${upstream.provider} fails, the call fails: of several targets only the first is used. Next in line: ${waiting}.`,
    ),
  ];
}

function nameOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} as ${model}`;
}

function sayHealth({ health }: ModelDesk, provider: string): string {
  const { state, calls, errors } = health.read(provider);
  return state === 'failing' ? `It is failing now: ${errors} of ${calls} calls in the last 15 minutes. ` : '';
}

function sayPrice({ nowMs }: ModelDesk, { prices }: Route): string {
  const price = priceAt(prices, nowMs());
  return price === null
    ? 'It has no price: where a balance or a budget applies, the call is refused.'
    : `It costs ${priceWords(price)}.`;
}
