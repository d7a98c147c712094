/**
 * Names the metrics of calls: the GenAI semantic conventions of OpenTelemetry where they have one, our own otherwise.
 * The conventions are in development, so their names are only here and in `otlp/call-spans.ts`:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-metrics.md (2026-11-22).
 */
import { counter, histogram } from './registry.ts';

/** Bounds that the conventions prescribe, in seconds and in tokens. */
const DURATION_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKEN_BOUNDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 120,
];
const TOKEN_BOUNDS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

const SERVED = ['gen_ai.operation.name', 'gen_ai.request.model'] as const;
/** `provider`: its name in the configuration; `gen_ai.provider.name`: who runs it, as the conventions name vendors. */
const ASKED = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'provider'] as const;

export const SERVER_DURATION = histogram(
  'gen_ai.server.request.duration',
  's',
  'Time from the arrival of a request to its end, by the public model. error_type is empty for a complete response.',
  [...SERVED, 'error.type'],
  DURATION_BOUNDS,
);

export const SERVER_FIRST_TOKEN = histogram(
  'gen_ai.server.time_to_first_token',
  's',
  'Time from the arrival of a streamed request to the first byte of its response.',
  SERVED,
  FIRST_TOKEN_BOUNDS,
);

export const CLIENT_DURATION = histogram(
  'gen_ai.client.operation.duration',
  's',
  'Duration of one attempt at a provider, by the model there. error_type is empty for an answer.',
  [...ASKED, 'error.type'],
  DURATION_BOUNDS,
);

export const CLIENT_FIRST_CHUNK = histogram(
  'gen_ai.client.operation.time_to_first_chunk',
  's',
  'Time from the start of an attempt to the first token of its stream.',
  ASKED,
  DURATION_BOUNDS,
);

export const CLIENT_TOKENS = histogram(
  'gen_ai.client.token.usage',
  '{token}',
  'Billable tokens of one request, cached ones included in input.',
  [...ASKED, 'gen_ai.token.type'],
  TOKEN_BOUNDS,
);

export const REQUESTS = counter(
  'tollgate.requests',
  '{request}',
  'Ended requests of known callers, token counts (protocol count_tokens) and requests about stored objects (protocol stored) included. error_type is empty for a complete response.',
  ['route', 'protocol', 'status', 'error.type'],
);

export const REFUSALS = counter(
  'tollgate.refusals',
  '{request}',
  'Requests that the gateway refused without an attempt at a provider, also those without a valid key.',
  ['error.type'],
);

export const TOKENS = counter(
  'tollgate.tokens',
  '{token}',
  'Billable tokens. The types are disjoint, but reasoning is part of output.',
  ['route', 'provider', 'type'],
);

export const COST = counter(
  'tollgate.cost',
  'USD',
  'Cost of requests at the price in force. payer: the account, or the operator, who writes it off.',
  ['route', 'provider', 'payer'],
);

export const ATTEMPTS = counter(
  'tollgate.attempts',
  '{attempt}',
  'Attempts at providers, those of token counts included. class: what its failure was; ok: it answered.',
  ['provider', 'target', 'class', 'why'],
);

export const FALLBACKS = counter(
  'tollgate.fallbacks',
  '{attempt}',
  'Attempts that went to another target than the attempt before.',
  ['route', 'from', 'to'],
);

export const QUEUE_WAIT = histogram(
  'tollgate.queue_wait',
  's',
  'Time that a request waited before an attempt: for a place at the target, or for a pause to end.',
  ['provider', 'target'],
  [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5],
);

export const CACHED = counter(
  'tollgate.cached_answers',
  '{request}',
  'Requests answered from the cache of answers, which no provider got.',
  ['route'],
);

export const MASKED = counter(
  'tollgate.guardrail_masks',
  '{request}',
  'Requests in which a guardrail masked something, in the request or in its answer.',
  ['route'],
);

export const ABSORBED = counter(
  'tollgate.absorbed_attempt',
  'USD',
  'Cost of attempts that did not become the response, where the provider may have billed them. Operators pay it.',
  ['provider', 'billed'],
);
