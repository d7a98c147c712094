/** Defines the schema of `telemetry` in the configuration file. */
import { z } from 'zod';
import { TELEMETRY_DEFAULTS as DEFAULTS, LOG_LEVELS } from '../telemetry-config.ts';
import { baseUrl, choice, duration, headerName, headerSecret, plainText, share } from './scalar-schema.ts';

const otlpSchema = z.strictObject({
  endpoint: baseUrl.meta({
    description:
      'The address of an OpenTelemetry collector that receives OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` and `/v1/metrics` follow.',
  }),
  headers: z
    .record(headerName, headerSecret)
    .meta({ description: 'Headers of every export, such as `authorization`. Their values are secrets.' })
    .optional(),
  traces: choice(['on', 'off'])
    .meta({ description: 'Whether traces are sent.', default: DEFAULTS.otlpSignal })
    .optional(),
  metrics: choice(['on', 'off'])
    .meta({ description: 'Whether metrics are sent. `/metrics` is served either way.', default: DEFAULTS.otlpSignal })
    .optional(),
  sample: share
    .meta({
      description:
        'The share of requests that are traced, from 0 to 1. A client that sends `traceparent` decides for its request.',
      default: DEFAULTS.sample,
    })
    .optional(),
  interval: duration('1s', '1h')
    .meta({ description: 'The time between two exports of metrics.', default: DEFAULTS.otlpInterval })
    .optional(),
  timeout: duration('100ms', '60s')
    .meta({ description: 'The time limit of one export, retries included.', default: DEFAULTS.otlpTimeout })
    .optional(),
  service_name: plainText('a service name', 200)
    .meta({ description: 'The name of this service in traces and metrics.', default: DEFAULTS.serviceName })
    .optional(),
});

export const telemetrySchema = z.strictObject({
  log_level: choice(LOG_LEVELS)
    .meta({ description: 'The least severe log lines that are written.', default: DEFAULTS.logLevel })
    .optional(),
  request_log: choice(['on', 'off'])
    .meta({
      description:
        'Writes one log line of level `info` per request, without content: ids, model, target, status, tokens, cost and durations.',
      default: DEFAULTS.requestLog,
    })
    .optional(),
  otlp: otlpSchema
    .meta({
      description:
        'Sends traces and metrics to an OpenTelemetry collector. The standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT` and others) override these members. Takes effect at the next start.',
    })
    .optional(),
});

export type TelemetryShape = z.output<typeof telemetrySchema>;
