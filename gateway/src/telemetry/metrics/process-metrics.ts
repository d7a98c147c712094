/** Reports the process itself: version, memory, processor time, descriptors, and how late the event loop runs. */
import { countDescriptors, lowestFreeDescriptor } from '../../lib/open-files.ts';
import { residentBytes } from '../../lib/resident-bytes.ts';
import { counter, type Family, gauge, histogram, type MetricRegistry } from './registry.ts';

const LOOK_EVERY_MS = 500;
const LAG_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

const EVENT_LOOP_LAG = histogram(
  'tollgate.event_loop_lag',
  's',
  `How late a timer of ${LOOK_EVERY_MS} ms fired.`,
  [],
  LAG_BOUNDS,
);

/** Names and units as Prometheus' own client libraries have them, so that common dashboards work. */
const MEMORY = gauge('process.resident_memory', 'By', 'Resident memory.');
const HEAP = gauge('tollgate.heap', 'By', 'Memory of live and dead objects of the runtime.');
const CPU = counter('process.cpu', 's', 'Processor time of all threads.');
const START = gauge('process.start_time', 's', 'Unix time of the start.');
const DESCRIPTORS = gauge('process.open_fds', '', 'Open file descriptors.');
const BUILD = gauge('tollgate.build_info', '', 'Always 1; the version is its label.', ['version']);

interface ProcessParts {
  readonly version: string;
  readonly startedAtMs: number;
}

/** Defines the metrics and starts watching the event loop; returns a function that stops it. */
export function watchProcess(registry: MetricRegistry, { version, startedAtMs }: ProcessParts): () => void {
  registry.read(BUILD, (add) => add(1, version));
  registry.read(START, (add) => add(startedAtMs / 1_000));
  registry.read(MEMORY, (add) => add(residentBytes()));
  registry.read(HEAP, (add) => {
    // The runtime reads a file for it.
    if (lowestFreeDescriptor() !== null) add(process.memoryUsage().heapUsed);
  });
  registry.read(CPU, (add) => {
    const { user, system } = process.cpuUsage();
    add((user + system) / 1e6);
  });
  registry.read(DESCRIPTORS, (add) => {
    const open = countDescriptors();
    if (open !== null) add(open);
  });
  return watchEventLoop(registry.family(EVENT_LOOP_LAG));
}

function watchEventLoop(lag: Family): () => void {
  const index = lag.series();
  let dueMs = performance.now() + LOOK_EVERY_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lag.observe(index, Math.max(0, nowMs - dueMs) / 1_000);
    dueMs = nowMs + LOOK_EVERY_MS;
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
