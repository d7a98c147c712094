/** Defines the shape of the telemetry settings and their defaults. Reads no file and no environment. */
import type { Secret } from '../lib/secret.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** As the file writes them. */
export const TELEMETRY_DEFAULTS = {
  logLevel: 'info',
  requestLog: 'on',
  serviceName: 'tollgate',
  otlpInterval: '60s',
  otlpTimeout: '10s',
  otlpSignal: 'on',
  sample: 1,
} as const;
/** The path of each signal below a common address (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request). */
export const SIGNAL_PATHS = { traces: '/v1/traces', metrics: '/v1/metrics' } as const;
export type OtlpSignal = keyof typeof SIGNAL_PATHS;

/** Where one signal goes. */
export interface OtlpDestination {
  readonly url: string;
  /** Header lines, whose values are credentials. */
  readonly headers: readonly (readonly [name: string, value: Secret])[];
}

/** How many traces begin here, and whether a client's decision counts. */
export interface TraceSampling {
  /** From 0 to 1. */
  readonly ratio: number;
  /** A client's sampled or unsampled trace stays so. */
  readonly followsParent: boolean;
}

export interface OtlpConfig {
  /** Null: the signal is not sent; at least one is. */
  readonly traces: OtlpDestination | null;
  readonly metrics: OtlpDestination | null;
  readonly format: 'protobuf' | 'json';
  readonly gzip: boolean;
  readonly sampling: TraceSampling;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly serviceName: string;
  /** Further attributes of the resource. */
  readonly resource: ReadonlyMap<string, string>;
}

export interface TelemetryConfig {
  readonly logLevel: LogLevel;
  /** Writes one line per request. */
  readonly requestLog: boolean;
  /** Null: nothing is sent. */
  readonly otlp: OtlpConfig | null;
}
