/** Reads and writes the form of a model's targets. */
import type { Body, ConsoleRoute, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { changesOf, isEmpty } from '../../policy/read.ts';
import { STATE_TOUCHES } from '../../routing/routing-states.ts';

export const ROUTE = 'GET /accounts/{account}/routes/{model}';

/** The replies that a change of a route changes. */
export const TOUCHES = [...STATE_TOUCHES, 'GET /accounts/{account}/models'] as const satisfies readonly ConsoleRoute[];

export type RouteView = Reply<typeof ROUTE>;
export type TargetView = RouteView['targets'][number];
type Definition = NonNullable<RouteView['definition']>;
type DefinedTarget = Definition['targets'][number];
export type Strategy = NonNullable<RouteView['routing']>['strategy'];

/** A target as it is filled in. */
export interface TargetFields {
  /** Identifies the row while it is edited. */
  readonly id: number;
  readonly provider: string;
  readonly model: string;
  readonly priority: string;
  readonly weight: string;
  readonly maxConcurrency: string;
  readonly tags: string;
  /** The members that the form does not show. */
  readonly rest: Omit<DefinedTarget, 'provider' | 'model' | 'priority' | 'weight' | 'max_concurrency' | 'tags'>;
}

const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value));

/** The fields of a route's targets: as they were entered, else as they are served. */
export function fieldsOf({ targets, definition }: RouteView): readonly TargetFields[] {
  const given: readonly DefinedTarget[] =
    definition?.targets ??
    targets.map(({ provider, model, priority, weight, max_concurrency, tags }) => ({
      provider,
      model,
      priority,
      ...(weight === null ? {} : { weight }),
      ...(max_concurrency === null ? {} : { max_concurrency }),
      tags,
    }));
  return given.map(({ provider, model, priority, weight, max_concurrency, tags, ...rest }, id) => ({
    id,
    provider,
    model: model ?? '',
    priority: text(priority ?? 1),
    weight: text(weight),
    maxConcurrency: text(max_concurrency),
    tags: (tags ?? []).join(' '),
    rest,
  }));
}

/** A further target, after the others. */
export function newTarget(rows: readonly TargetFields[], provider: string): TargetFields {
  const id = Math.max(-1, ...rows.map((row) => row.id)) + 1;
  return { id, provider, model: '', priority: '1', weight: '', maxConcurrency: '', tags: '', rest: {} };
}

/** The rows with this one before the one that it followed. */
export function moveUp(rows: readonly TargetFields[], at: number): readonly TargetFields[] {
  const [row] = rows.slice(at, at + 1);
  return row === undefined ? rows : rows.toSpliced(at, 1).toSpliced(at - 1, 0, row);
}

/** Why a row cannot be used, by field. The server checks the rest. */
export function faultsOf(row: TargetFields): Partial<Record<'priority' | 'weight' | 'maxConcurrency', string>> {
  const isWhole = (value: string, least: number, most: number) =>
    /^\d{1,6}$/.test(value.trim()) && Number(value) >= least && Number(value) <= most;
  const orBlank = (value: string, least: number, most: number) => value.trim() === '' || isWhole(value, least, most);
  return {
    ...(isWhole(row.priority, 1, 100) ? {} : { priority: 'Enter a whole number from 1 to 100.' }),
    ...(orBlank(row.weight, 0, 1_000) ? {} : { weight: 'Enter a whole number from 0 to 1000.' }),
    ...(orBlank(row.maxConcurrency, 1, 100_000) ? {} : { maxConcurrency: 'Enter a whole number from 1.' }),
  };
}

/** The targets as the API takes them. The rows have been checked. */
export function parseTargets(rows: readonly TargetFields[]): DefinedTarget[] {
  return rows.map(({ provider, model, priority, weight, maxConcurrency, tags, rest }) => {
    const words = tags.split(/[\s,]+/).filter((word) => word !== '');
    return {
      ...rest,
      provider,
      ...(model.trim() === '' ? {} : { model: model.trim() }),
      ...(Number(priority) === 1 ? {} : { priority: Number(priority) }),
      ...(weight.trim() === '' ? {} : { weight: Number(weight) }),
      ...(maxConcurrency.trim() === '' ? {} : { max_concurrency: Number(maxConcurrency) }),
      ...(words.length === 0 ? {} : { tags: words }),
    };
  });
}

/** The routing with this strategy; '': the default. Other members stay. Null: no member is left. */
export function withStrategy(before: Definition['routing'], strategy: Strategy | ''): Definition['routing'] {
  const { strategy: _, ...others } = before ?? {};
  const routing = strategy === '' ? others : { ...others, strategy };
  return Object.keys(routing).length === 0 ? null : routing;
}

/** What the form changes of a route, with what it had before, so that no change of others is overwritten. */
export function changesTo(
  route: RouteView,
  filled: Pick<Definition, 'targets' | 'routing'>,
): Body<'PATCH /accounts/{account}/routes/{model}'> {
  const { targets, routing = null } = route.definition ?? { targets: [] };
  const opened = { targets: parseTargets(fieldsOf(route)), routing };
  const changes = changesOf(opened, filled);
  if (isEmpty(changes)) return {};
  const before = {
    ...('targets' in changes ? { targets } : {}),
    ...('routing' in changes ? { routing } : {}),
  };
  return { ...changes, before };
}
