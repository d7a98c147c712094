/** Runs one load run: warm-up, a timed window, and draining of open calls. */
import { readCpuMs } from '../process/process-usage.ts';
import { AT_ONCE, startArrivals } from './call-feed.ts';
import { type DrivenConnection, driveConnection } from './drive-connection.ts';
import type { LoadPlan, LoadResult } from './load-plan.ts';
import { renderRequest } from './render-request.ts';
import { createTally, summarizeLatency } from './tally.ts';

/** Longer than a paced stream; calls still open after it are dropped. */
const DRAIN_MS = 1500;
/** Staggers the clients, since real ones do not start at the same moment; 100 of them take a little over 50 ms. */
const CONNECTIONS_PER_MS = 2;
const REHEARSAL_MS = 1_000;

function readCpuByRole(plan: LoadPlan): Record<string, number> {
  const own = process.cpuUsage();
  const cpuMs: Record<string, number> = { load: (own.user + own.system) / 1000 };
  for (const [role, pid] of Object.entries(plan.watch)) cpuMs[role] = readCpuMs(pid);
  return cpuMs;
}

/**
 * Sends calls over `plan.connections` connections and counts the results. This process reads CPU time at the exact ends
 * of the window, so that calls and CPU cover the same span. Ends early when the subject keeps failing.
 */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  if (plan.rehearsalPort !== null) {
    const rehearsal = {
      port: plan.rehearsalPort,
      rehearsalPort: null,
      headers: {},
      warmupMs: 0,
      windowMs: REHEARSAL_MS,
    };
    await runLoad({ ...plan, ...rehearsal });
  }
  const request = renderRequest(plan.path, plan.port, plan.headers, plan.body);
  const tally = createTally();
  const arrivals = plan.callsPerSecond === null ? null : startArrivals(plan.callsPerSecond);
  const clients: DrivenConnection[] = [];
  const warmEnd = Bun.sleep(plan.warmupMs);
  for (let opened = 0; opened < plan.connections; opened += 1) {
    clients.push(driveConnection(plan.port, request, plan.expect, tally, arrivals ?? AT_ONCE));
    if (opened % CONNECTIONS_PER_MS === 0) await Bun.sleep(1);
  }

  await Promise.race([warmEnd, tally.broken]);
  const startedAt = performance.now();
  const before = readCpuByRole(plan);
  tally.phase = 'window';
  await Promise.race([Bun.sleep(plan.windowMs), tally.broken]);
  tally.phase = 'drain';
  arrivals?.stop();
  const windowMs = performance.now() - startedAt;
  const after = readCpuByRole(plan);

  await Promise.race([Promise.all(clients.map((client) => client.done)), Bun.sleep(DRAIN_MS)]);
  for (const client of clients) client.abandon();

  return {
    windowMs,
    calls: tally.calls,
    events: tally.events,
    failures: tally.failures,
    firstFailure: tally.firstFailure,
    reconnects: tally.reconnects,
    callMs: summarizeLatency(tally.callMs),
    firstMs: summarizeLatency(tally.firstMs),
    cpuMs: Object.fromEntries(Object.entries(after).map(([role, ms]) => [role, ms - (before[role] ?? 0)])),
  };
}
