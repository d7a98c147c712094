/** Reports the gateway's capacity, readiness, protocol violations, journal and tables, read where each is kept. */
import type { StoreHealth } from '../../store/ports/store.ts';
import { type AddSample, counter, gauge, type MetricRegistry, type MetricSpec } from './registry.ts';
import { ROUTING_METRICS, type RoutingView } from './routing-metrics.ts';

/** An amount with its bound; not finite: no bound. */
interface Bounded {
  readonly held: number;
  readonly max: number;
}

/** What the gateway knows at a scrape. */
export interface GatewayState {
  readonly openRequests: Bounded;
  readonly openStreams: number;
  readonly openWebSockets: number;
  /** From 0 to 1. */
  readonly overloadShare: number;
  readonly bodyBytes: Bounded;
  readonly isReady: boolean;
  /** New requests get an answer other than 503: it does not drain, and records can be written. */
  readonly isServing: boolean;
  readonly violations: readonly { readonly direction: string; readonly protocol: string; readonly count: number }[];
  readonly store: StoreHealth;
  readonly routing: RoutingView;
}

type Read = (state: GatewayState, add: AddSample) => void;

function current(name: string, unit: string, help: string, read: Read): readonly [MetricSpec, Read] {
  return [gauge(name, unit, help), read];
}

const METRICS: readonly (readonly [MetricSpec, Read])[] = [
  current('tollgate.ready', '', '1: load balancers may send requests.', (state, add) => add(Number(state.isReady))),
  current('tollgate.serving', '', '1: new requests are accepted; 0: they get 503.', (state, add) =>
    add(Number(state.isServing)),
  ),
  current('tollgate.open_requests', '', 'Requests in progress.', (state, add) => add(state.openRequests.held)),
  current('tollgate.open_requests_limit', '', 'Limit of requests in progress.', (state, add) =>
    addFinite(state.openRequests.max, add),
  ),
  current(
    'tollgate.overload',
    '1',
    'Share of new requests that are refused because the process falls behind.',
    (state, add) => add(state.overloadShare),
  ),
  current('tollgate.open_streams', '', 'Streams in progress.', (state, add) => add(state.openStreams)),
  current('tollgate.open_websockets', '', 'Open WebSockets.', (state, add) => add(state.openWebSockets)),
  current('tollgate.body', 'By', 'Memory of request bodies.', (state, add) => add(state.bodyBytes.held)),
  current('tollgate.body_limit', 'By', 'Limit of the memory of request bodies.', (state, add) =>
    addFinite(state.bodyBytes.max, add),
  ),
  current(
    'tollgate.journal_durable_lag',
    's',
    'Age of the oldest written block that is not durable.',
    ({ store }, add) => add(store.durableLagMs / 1_000),
  ),
  current('tollgate.journal_segments', '', 'Segments of the journal on the disk.', ({ store }, add) =>
    add(store.segments),
  ),
  current('tollgate.journal_spare_segments', '', 'Segments prepared for later blocks.', ({ store }, add) =>
    add(store.spareSegments),
  ),
  current('tollgate.ingest_lag', 's', 'For how long the tables have been behind the journal.', ({ store }, add) =>
    add(store.ingestLagMs / 1_000),
  ),
  current('tollgate.ingest_lag_blocks', '', 'Blocks of the journal that the tables do not have.', ({ store }, add) =>
    add(store.ingestLagBlocks),
  ),
  [
    counter(
      'tollgate.protocol_violations',
      '{event}',
      'Stream events against their format: received from providers, or withheld from clients.',
      ['direction', 'protocol'],
    ),
    ({ violations }, add) => {
      for (const { direction, protocol, count } of violations) add(count, direction, protocol);
    },
  ],
];

/** `read` is called once per scrape. */
export function defineGatewayMetrics(registry: MetricRegistry, read: () => GatewayState): void {
  let state: GatewayState | null = null;
  registry.prepare(() => {
    state = read();
  });
  for (const [spec, of] of METRICS) {
    registry.read(spec, (add) => {
      if (state !== null) of(state, add);
    });
  }
  for (const [spec, of] of ROUTING_METRICS) {
    registry.read(spec, (add) => {
      if (state !== null) of(state.routing, add);
    });
  }
}

function addFinite(value: number, add: (value: number) => void): void {
  if (Number.isFinite(value)) add(value);
}
