/**
 * Serves the routing preview for members of an account: the targets of a request in the order of trial, in sentences.
 * The states and costs behind it are for operators, in `explain.ts`.
 */
import { priceAt, priceWords } from '../../billing/price-book.ts';
import { explainRequest } from '../../call/explain-route.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { type ClientProtocolName, speaks } from '../../protocols/names.ts';
import type { ExplainedTarget } from '../../routing/choose/explain.ts';
import type { Target } from '../../routing/route.ts';
import type { Reply } from '../contract/contract.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import type { ExplainParts } from './explain.ts';
import type { ModelDeps } from './model-deps.ts';

type DryRunRoute = 'GET /accounts/{account}/models/{model}/dry-run';
type Step = Reply<DryRunRoute>['steps'][number];
type Asked = Pick<ConsoleCall<DryRunRoute>, 'tenancy' | 'path' | 'query'>;

/** The handler of the preview. */
export function dryRunHandlers(models: ModelDeps, deps: ExplainParts['deps']) {
  return {
    'GET /accounts/{account}/models/{model}/dry-run': async (call) => ({ steps: await dryRun(models, deps, call) }),
  } satisfies Partial<Handlers>;
}

/** Throws `not_found` for a key that the caller may not see. */
async function dryRun(models: ModelDeps, deps: ExplainParts['deps'], { tenancy, path, query }: Asked): Promise<Step[]> {
  const key = query.key === undefined ? undefined : models.directory.keys.get(query.key);
  const isSeen =
    key?.accountId === tenancy.account && (tenancy.workspaces === null || tenancy.workspaces.includes(key.workspaceId));
  if (query.key !== undefined && !isSeen) {
    throw new ConsoleFailure('not_found', 'there is no such key', { member: 'key' });
  }
  const asked = { model: path.model, protocol: query.protocol, body: null, session: null };
  const sender = { keyId: query.key ?? null, account: tenancy.account };
  const { route, explanation, refusal } = await explainRequest(deps(), { ...asked, ...sender }, models.nowMs());
  if (route === null || explanation === null) return [stops(`Refused: ${refusal}.`)];
  const named = path.model === route.model ? '' : `${path.model} is another name of ${route.model}. `;
  const steps = explanation.targets.flatMap((one): Step[] => {
    const target = route.targets.find(({ name }) => name === one.target);
    if (target === undefined) return [];
    return [stepOf(models, { one, target, count: route.targets.length, named }, query.protocol)];
  });
  return refusal === null ? steps : [stops(`Refused: ${refusal}.`), ...steps];
}

interface Judged {
  readonly one: ExplainedTarget;
  readonly target: Target;
  /** The targets of the route. */
  readonly count: number;
  readonly named: string;
}

function stepOf(models: ModelDeps, { one, target, count, named }: Judged, protocol: ClientProtocolName): Step {
  const name = `${target.upstream.provider} as ${target.upstream.model}`;
  const spoken = speaks(target.upstream.protocols, protocol)
    ? `it supports ${protocol}, so requests pass through unchanged`
    : `requests are translated from ${protocol} to ${target.upstream.protocols.join(' or ')}`;
  switch (one.verdict) {
    case 'chosen': {
      const place = count > 1 ? `the first of ${count} targets` : 'the only target';
      return {
        outcome: 'goes',
        text: `${name}: ${place}; ${spoken}. ${named}${sayHealth(models, target.upstream.provider)}${sayPrice(models, target)}`,
      };
    }
    case 'fallback':
      return { outcome: 'then', text: `If that fails, ${name}: ${spoken}. ${sayPrice(models, target)}` };
    case 'skipped':
      return stops(`Not at the moment: ${name}.`);
    case 'filtered':
      return stops(`Not for this request: ${name}; it is not a target that ${one.lacks}.`);
  }
}

function stops(text: string): Step {
  return { outcome: 'stops', text };
}

function sayHealth({ readHealth }: ModelDeps, provider: string): string {
  const { state, calls, errors } = readHealth(provider);
  return state === 'failing' ? `It is failing: ${errors} of ${calls} requests in the last 15 minutes. ` : '';
}

function sayPrice({ nowMs }: ModelDeps, { prices }: Target): string {
  const price = priceAt(prices, nowMs());
  return price === null
    ? 'It has no price: a request is refused if a balance or a budget applies to it.'
    : `It costs ${priceWords(price)}.`;
}
