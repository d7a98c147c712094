/** Opens telemetry with every metric defined, as a gateway that exports by OTLP has it. */
import { openSync } from 'node:fs';
import type { TelemetryConfig } from '../../src/config/telemetry-config.ts';
import { LineWriter } from '../../src/telemetry/line-writer.ts';
import { createLog } from '../../src/telemetry/log.ts';
import type { GatewayState } from '../../src/telemetry/metrics/gateway-metrics.ts';
import type { PostBytes } from '../../src/telemetry/otlp/otlp-sender.ts';
import { openTelemetry, type Telemetry } from '../../src/telemetry/telemetry.ts';

const IDLE: GatewayState = {
  openRequests: { held: 2, max: 10 },
  openStreams: 1,
  openWebSockets: 0,
  overloadShare: 0,
  bodyBytes: { held: 0, max: 100 },
  isReady: true,
  isServing: true,
  violations: [{ direction: 'received', protocol: 'chat', count: 0 }],
  store: {
    durableLagMs: 0,
    durableBlocks: 1,
    segments: 1,
    spareSegments: 1,
    ingestLagMs: 0,
    ingestLagBlocks: 0,
  },
  routing: {
    targets: [
      {
        provider: 'lab',
        target: 'main',
        model: 'big',
        state: 'open',
        open: 1,
        overdue: 0,
        retriesLeft: 10,
        waiting: 0,
      },
    ],
    credentials: [{ provider: 'lab', credential: 'default', state: 'usable' }],
    headroom: [{ provider: 'lab', credential: 'default', model: 'big', share: 0.5 }],
    limping: ['m'],
    pins: 0,
    pinMoves: new Map([['fallback', 1]]),
  },
};

const DESTINATION = { url: 'http://collector/v1', headers: [] };

export const ALL_ON: TelemetryConfig = {
  logLevel: 'info',
  requestLog: false,
  otlp: {
    traces: DESTINATION,
    metrics: DESTINATION,
    format: 'protobuf',
    gzip: false,
    sampling: { ratio: 1, followsParent: true },
    intervalMs: 3_600_000,
    timeoutMs: 100,
    serviceName: 'tollgate',
    resource: new Map(),
  },
};

export async function openAllMetrics(config: TelemetryConfig, post: PostBytes): Promise<Telemetry> {
  const lines = new LineWriter(openSync('/dev/null', 'w'));
  const vendorOf = (provider: string) => provider;
  const output = { log: createLog(lines), lines };
  const parts = { ...output, config, version: '1.2.3', startedAtMs: Date.now(), vendorOf, post };
  const telemetry = await openTelemetry(parts);
  telemetry.watch(() => IDLE);
  return telemetry;
}
