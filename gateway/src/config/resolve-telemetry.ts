/**
 * Resolves the telemetry settings: OpenTelemetry's standard variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and .../protocol/exporter/, read
 * 2026-11-22), else the file, else the defaults. A variable that asks for something this version lacks is a problem.
 */
import { parseDurationMs } from '../lib/quantity.ts';
import { Secret } from '../lib/secret.ts';
import { type ConfigProblem, environmentProblem, quoteText } from './file/config-problem.ts';
import { HEADER_NAME, HEADER_VALUE, parseBaseUrl } from './file/scalar-schema.ts';
import type { TelemetryShape } from './file/telemetry-schema.ts';
import type { Environment } from './file/yaml-tree.ts';
import {
  TELEMETRY_DEFAULTS as DEFAULTS,
  type OtlpConfig,
  type OtlpDestination,
  type OtlpSignal,
  SIGNAL_PATHS,
  type TelemetryConfig,
  type TraceSampling,
} from './telemetry-config.ts';

export function resolveTelemetry(
  shape: TelemetryShape | undefined,
  environment: Environment,
  problems: ConfigProblem[],
): TelemetryConfig {
  return {
    logLevel: shape?.log_level ?? DEFAULTS.logLevel,
    requestLog: (shape?.request_log ?? DEFAULTS.requestLog) === 'on',
    otlp: resolveOtlp(shape?.otlp, new StandardVariables(environment, problems)),
  };
}

type OtlpShape = TelemetryShape['otlp'];

function resolveOtlp(shape: OtlpShape, variables: StandardVariables): OtlpConfig | null {
  if (variables.choice('OTEL_SDK_DISABLED', ['true', 'false']) === 'true') return null;
  const traces = resolveSignal('traces', shape, variables);
  const metrics = resolveSignal('metrics', shape, variables);
  if (traces === null && metrics === null) return null;
  for (const variable of UNSUPPORTED) variables.refuse(variable);
  const protocol = variables.choice('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/protobuf', 'http/json']);
  return {
    traces,
    metrics,
    format: protocol === 'http/json' ? 'json' : 'protobuf',
    gzip: variables.choice('OTEL_EXPORTER_OTLP_COMPRESSION', ['gzip', 'none']) === 'gzip',
    sampling: resolveSampling(shape, variables),
    intervalMs:
      variables.milliseconds('OTEL_METRIC_EXPORT_INTERVAL') ??
      shape?.interval ??
      parseDurationMs(DEFAULTS.otlpInterval),
    timeoutMs:
      variables.milliseconds('OTEL_EXPORTER_OTLP_TIMEOUT') ?? shape?.timeout ?? parseDurationMs(DEFAULTS.otlpTimeout),
    serviceName: variables.text('OTEL_SERVICE_NAME') ?? shape?.service_name ?? DEFAULTS.serviceName,
    resource: variables.pairs('OTEL_RESOURCE_ATTRIBUTES', /^[^\p{Cc}]{1,255}$/u, /^[^\p{Cc}]{0,255}$/u),
  };
}

/** Certificates of their own; the system's are used. */
const UNSUPPORTED = [
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_KEY',
  'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
] as const;

const SIGNAL_VARIABLES = {
  traces: ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'],
  metrics: ['OTEL_METRICS_EXPORTER', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_HEADERS'],
} as const;

/** A signal's own address is used as it is; a common one is continued by the signal's path. */
function resolveSignal(signal: OtlpSignal, shape: OtlpShape, variables: StandardVariables): OtlpDestination | null {
  const [exporter, endpoint, headers] = SIGNAL_VARIABLES[signal];
  const common = variables.address('OTEL_EXPORTER_OTLP_ENDPOINT') ?? shape?.endpoint.url;
  const url = variables.address(endpoint) ?? (common === undefined ? null : common + SIGNAL_PATHS[signal]);
  if (url === null || (shape?.[signal] ?? DEFAULTS.otlpSignal) === 'off') return null;
  if (variables.choice(exporter, ['otlp', 'none']) === 'none') return null;
  const lines = new Map(Object.entries(shape?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  for (const variable of ['OTEL_EXPORTER_OTLP_HEADERS', headers]) {
    for (const [name, value] of variables.pairs(variable, HEADER_NAME, HEADER_VALUE)) {
      lines.set(name.toLowerCase(), new Secret(value));
    }
  }
  return { url, headers: [...lines] };
}

function resolveSampling(shape: OtlpShape, variables: StandardVariables): TraceSampling {
  const sampler = variables.choice('OTEL_TRACES_SAMPLER', SAMPLERS) ?? 'parentbased_traceidratio';
  const ratio = variables.ratio('OTEL_TRACES_SAMPLER_ARG') ?? shape?.sample ?? DEFAULTS.sample;
  return {
    ratio: sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : ratio,
    followsParent: sampler.startsWith('parentbased_'),
  };
}

/** A timer takes no more than 24 days, and a longer one would fire at once. */
const DAY_MS = 86_400_000;

const SAMPLERS = [
  'parentbased_traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'traceidratio',
  'always_on',
  'always_off',
] as const;

/** Reads variables; a bad value is reported by its name, never shown, and counts as absent. */
class StandardVariables {
  readonly #environment: Environment;
  readonly #problems: ConfigProblem[];

  constructor(environment: Environment, problems: ConfigProblem[]) {
    this.#environment = environment;
    this.#problems = problems;
  }

  text(variable: string): string | undefined {
    return this.#environment[variable]?.trim() || undefined;
  }

  choice<const Word extends string>(variable: string, words: readonly Word[]): Word | undefined {
    const text = this.text(variable);
    const word = words.find((one) => one === text?.toLowerCase());
    if (text !== undefined && word === undefined) {
      this.#report(variable, quoteText(text), `one of ${words.join(', ')}`);
    }
    return word;
  }

  milliseconds(variable: string): number | undefined {
    return this.#number(
      variable,
      `a whole number of milliseconds from 1 to ${DAY_MS}`,
      (value) => Number.isInteger(value) && value > 0 && value <= DAY_MS,
    );
  }

  ratio(variable: string): number | undefined {
    return this.#number(variable, 'a number from 0 to 1', (value) => value >= 0 && value <= 1);
  }

  address(variable: string): string | undefined {
    const text = this.text(variable);
    if (text === undefined) return undefined;
    const parsed = parseBaseUrl(text);
    if ('url' in parsed) return parsed.url;
    this.#report(variable, parsed.found, 'an address such as http://127.0.0.1:4318');
    return undefined;
  }

  /** `name=value` pairs with commas between them, values percent-encoded. */
  pairs(variable: string, names: RegExp, values: RegExp): ReadonlyMap<string, string> {
    const pairs = new Map<string, string>();
    for (const pair of this.text(variable)?.split(',') ?? []) {
      const at = pair.indexOf('=');
      const name = pair.slice(0, Math.max(at, 0)).trim();
      const value = decode(pair.slice(at + 1).trim());
      if (value !== null && names.test(name) && values.test(value)) pairs.set(name, value);
      else if (pair.trim() !== '') this.#report(variable, 'a list with an invalid pair', 'pairs such as name=value');
    }
    return pairs;
  }

  refuse(variable: string): void {
    if (this.text(variable) !== undefined) this.#report(variable, 'a value', 'none: this version has no such setting');
  }

  #number(variable: string, expected: string, fits: (value: number) => boolean): number | undefined {
    const text = this.text(variable);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (fits(value)) return value;
    this.#report(variable, quoteText(text), expected);
    return undefined;
  }

  #report(variable: string, found: string, expected: string): void {
    if (this.#problems.some(({ path, source }) => source === 'environment' && path === variable)) return;
    this.#problems.push(environmentProblem(variable, { found, expected, advice: `Correct ${variable}, or unset it.` }));
  }
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
