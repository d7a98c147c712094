/** Contains the words of docs/errors.md: the cause and the remedy of each kind of failure, and an example message. */
import type { ConsoleFailureKind } from '../../src/errors/console-failure.ts';
import type { FailureKind } from '../../src/errors/failure-kinds.ts';

export interface ErrorText {
  /** Why a request fails like this: sentences. */
  readonly cause: string;
  /** Whether the same request can succeed again. */
  readonly retry: string;
  /** The remedy: sentences, or a list. */
  readonly remedy: string;
  /** A message of such an error. */
  readonly example: string;
}

export const INTRODUCTION = `Every request that fails has one kind of error. It is in the request's record (\`error\`), in the log line, on the Logs page and in
metrics. The client gets the status and the words of the format that it called, so several kinds can look the same to it: the
record tells them apart. Find it by the id that every answer carries in \`x-request-id\`:

\`\`\`sh
bin/tollgate requests --request-id req_… --json
\`\`\`

Why a certain request failed, with names and numbers, is its reason: [troubleshoot](troubleshoot.md). A fault of the gateway, of
its operator or of a provider is never reported as 401 or 403, and as 429 only where the provider limits the rate.`;

export const ORIGINS = {
  caller: 'the caller',
  gateway: 'the gateway or its operator',
  upstream: 'the provider',
} as const;

const NO = 'No: the same request fails again.';
const ONCE_CHANGED = 'Not before the request is changed.';
const SHORTLY = 'Yes, after `retry-after` seconds.';
const SAFE = 'Yes. The request cost its caller nothing if no output arrived.';

export const ERRORS: { readonly [kind in FailureKind]: ErrorText } = {
  invalid_request: {
    cause:
      'The body is not valid JSON, a member has a wrong type or value, or a header is wrong. The gateway found it before it called a provider.',
    retry: ONCE_CHANGED,
    remedy:
      'Correct the member that `param` and the message name. The message states what was found and what is expected. If the member is valid in another format only, the message says how this format writes it.',
    example: 'temperature is 3; expected a number from 0 to 2',
  },
  unauthorized: {
    cause:
      'The API key is missing, malformed, unknown, expired, replaced by a rotation, disabled or revoked, or its creator has left the account. The message says which.',
    retry: NO,
    remedy:
      'Send a key as `authorization: Bearer tg_…` or `x-api-key: tg_…`. Check its state on the Keys page or with `bin/tollgate keys list`; extend or enable it, or create another. A provider’s own key (`sk-…`) is not a key of the gateway.',
    example: 'the API key has expired. Set a later expiry at /app/keys, or make a new key',
  },
  model_unknown: {
    cause: 'No model has the name that the request asks for, and no alias has it.',
    retry: NO,
    remedy:
      'List the models that the key may use: `GET /v1/models`. To serve the model, [add it](add-a-provider.md) to the configuration or on the Models page.',
    example: 'the model "gpt-5-mini2" is not served here. GET /v1/models lists what this key may use',
  },
  model_forbidden: {
    cause:
      'The model exists, but the key, its workspace or its account does not allow it, or no target of the model has a data tag that the workspace requires. The request may name it in another member than `model`.',
    retry: NO,
    remedy:
      'Allow the model for the key (`bin/tollgate keys set ID --models …`) or its workspace, or use a model that `GET /v1/models` lists for this key.',
    example: 'this API key may not use the model "claude-opus-4-6". GET /v1/models lists what it may use',
  },
  model_wrong_protocol: {
    cause:
      'The model is not served at this endpoint: its `protocols` leave the format out, or it is a model for something else, such as embeddings.',
    retry: NO,
    remedy:
      'Call the endpoint that the message names, or add the format to `protocols` of the model. The page of each model in the console lists its endpoints.',
    example: 'the model "text-embedding-3-small" is not served on this endpoint; use POST /v1/embeddings',
  },
  address_forbidden: {
    cause: 'The key is limited to some addresses, and the request came from another one.',
    retry: NO,
    remedy:
      'Add the address to the key (`bin/tollgate keys set ID --ip …`). Behind a proxy, the client’s address is only known if the proxy is one of [`server.trusted_proxies`](run-behind-tls.md); otherwise every request has the address of the proxy.',
    example: 'this API key may not be used from your address',
  },
  scope_forbidden: {
    cause: 'The key lacks the scope that the operation needs. A key for `usage` or `admin` alone may not call models.',
    retry: NO,
    remedy:
      'Use a key with the scope `inference`, or create one: `bin/tollgate keys create --name NAME --scopes inference`.',
    example: 'this API key may not call models: it lacks the scope "inference"',
  },
  not_found: {
    cause:
      'The path does not exist, or the response, file, conversation or batch is not stored for the workspace of this key.',
    retry: NO,
    remedy:
      'Check the base URL: `http://HOST:PORT/v1` works for all SDKs. State of another workspace is not found, by design: [stored state](stored-state.md).',
    example: 'this response is not stored for this workspace',
  },
  method_not_allowed: {
    cause:
      'The path exists, but not with this method. The header `allow` lists the methods. A client that asks for a WebSocket at another path than `/v1/responses` gets 426 with the same words.',
    retry: NO,
    remedy: 'Use a method of `allow`. Coding agents that tried a WebSocket continue with POST by themselves.',
    example: 'GET is not allowed for this path; use POST',
  },
  body_timeout: {
    cause:
      'The body of the request did not arrive in time, or arrived more slowly than `limits.body_bytes_per_second_min`.',
    retry: 'Yes.',
    remedy:
      'Check the connection between client and gateway, and proxies that hold requests back. The limits: [connections](connections.md).',
    example: 'the body did not arrive within 60000 ms, nor at 65536 bytes per second',
  },
  body_too_large: {
    cause: 'The body, the file or the inflated body is larger than its limit, or the provider found it too large.',
    retry: ONCE_CHANGED,
    remedy:
      'Send less (images and documents by address or as a file), or raise [`limits.body_bytes_max`](configuration.md#limits). A proxy in front of the gateway has a limit of its own.',
    example:
      'the body is larger than 33554432 bytes, the most this gateway takes. Send less, or raise limits.body_bytes_max',
  },
  url_too_long: {
    cause: 'Path and query are longer than `limits.url_bytes_max`.',
    retry: ONCE_CHANGED,
    remedy: 'Shorten the query. No endpoint needs a long one.',
    example: 'path and query are longer than 8192 bytes',
  },
  encoding_unsupported: {
    cause: 'The body is compressed in a way that the gateway does not read, or it inflates to many times its size.',
    retry: ONCE_CHANGED,
    remedy: 'Send the body uncompressed, or with `content-encoding: gzip`. Forms are never compressed.',
    example: 'content-encoding is "br"; expected none, identity or gzip. Send the body uncompressed',
  },
  headers_too_large: {
    cause: 'The request has too many headers, or more than 16 KiB of them.',
    retry: ONCE_CHANGED,
    remedy: 'Remove headers that proxies or clients add, such as large cookies.',
    example: 'more than 100 headers',
  },
  idempotency_reused: {
    cause: 'The `Idempotency-Key` was used within 24 hours with another body or at another endpoint.',
    retry: 'With a new key.',
    remedy:
      'Make a new key for each new request; repeat a key only with the same bytes. [Idempotency](idempotency.md).',
    example:
      'this idempotency key was used with another body, or at another endpoint, within 24 hours. Send a new request with a new key',
  },
  idempotency_running: {
    cause: 'The first request with this `Idempotency-Key` has no answer yet.',
    retry: SHORTLY,
    remedy: 'Wait and send the same request again: it gets the answer of the first one.',
    example: 'the call with this idempotency key is still running. Ask again for its answer shortly',
  },
  idempotency_lost: {
    cause:
      'The first request with this `Idempotency-Key` was cut, or its answer was too large to be stored. Its answer can neither be returned nor repeated without a second charge.',
    retry: 'With a new key, if a second run is acceptable.',
    remedy: 'Look the first request up in the records: it says whether the model was reached and what was charged.',
    example:
      'the call with this idempotency key was cut off by a fault of this gateway, and may have reached the model',
  },
  not_supported: {
    cause: 'The gateway does not have this function.',
    retry: NO,
    remedy: 'The [overview](../README.md#not-yet-supported) lists what is missing.',
    example: 'this function is not supported',
  },
  client_left: {
    cause:
      'The client closed the connection before its answer was complete. It gets no error; the record has this kind. The provider’s request was stopped at once, and the usage so far is charged.',
    retry: 'The client decides.',
    remedy:
      'If no one stopped it, a time limit of the client or of a proxy is shorter than the answer takes. Raise it, or stream: a stream sends a sign of life while the model thinks.',
    example: 'the client left before its answer was complete',
  },
  upstream_rejected: {
    cause:
      'The provider refused the content of the request: its 400, 404, 413 or 422. Between equal formats its own body is passed on, without credentials and account ids.',
    retry: ONCE_CHANGED,
    remedy:
      'Read the provider’s message: it is in the body and in the record. Members that only some models accept are the usual cause; [translation](translation.md) says what becomes of each member.',
    example: 'Unsupported parameter: max_tokens is not supported with this model. Use max_completion_tokens instead.',
  },
  context_overflow: {
    cause:
      'The prompt alone is longer than the context of the model. The message has the words and numbers by which coding agents decide to compact the conversation.',
    retry: ONCE_CHANGED,
    remedy: 'Shorten the prompt, compact the conversation, or use a model with a larger context.',
    example: 'the prompt is longer than the context of the model',
  },
  output_over_context: {
    cause: 'The prompt fits, but not together with the requested maximum of output tokens.',
    retry: ONCE_CHANGED,
    remedy: 'Lower `max_tokens` (or `max_completion_tokens`, `max_output_tokens`), or shorten the prompt.',
    example: 'the prompt and the requested output are longer than the context of the model',
  },
  upstream_rate_limited: {
    cause:
      'The provider limits the rate of the operator’s account, and no other target could answer. It is not a limit of the caller’s key.',
    retry: SHORTLY,
    remedy:
      'For the operator: ask the provider for a higher limit, add a credential to the [pool](routes.md) or a [second target](fallback.md). The console’s Providers page shows the headroom that providers report.',
    example: 'all providers of the model limit the rate of calls; try again later',
  },
  upstream_overloaded: {
    cause: 'The provider is overloaded.',
    retry: SAFE,
    remedy:
      'Wait a little. For the operator: a [second target](fallback.md) at another provider takes over in such moments.',
    example: 'the model provider is overloaded',
  },
  targets_full: {
    cause:
      'No target of the model had a place for the request within two seconds: each has as many requests as its `max_concurrency` allows.',
    retry: SHORTLY,
    remedy:
      'For the operator: raise `max_concurrency` if the provider can take more, or add a [second target](fallback.md).',
    example: 'no target of the model can take the call now; try again shortly',
  },
  upstream_timeout: {
    cause:
      'The provider did not accept the connection, did not begin to answer, fell silent or did not finish in time. The message says which.',
    retry: SAFE,
    remedy:
      'For the operator: `timeouts` of the provider or target ([configuration](configuration.md#providers)); a slow model needs a longer `first_byte`. The record’s attempts have the time of each step.',
    example: 'the model provider did not begin to answer in time',
  },
  upstream_failed: {
    cause:
      'The provider answered with 500 or another status of its own failure, cannot be reached, or closed the connection.',
    retry: SAFE,
    remedy:
      'For the operator: the record has the provider’s status and words; `bin/tollgate check --live` tries every credential and address.',
    example: 'the model provider cannot be reached',
  },
  upstream_credential: {
    cause:
      'The provider refuses the operator’s credential or account: a wrong key, no permission, an unpaid bill. The caller’s key is fine.',
    retry: 'Not before the operator has replaced the credential.',
    remedy:
      'For the operator: replace the credential on the Providers page or in the environment, or settle the provider’s account. The log has an alarm with the provider’s words.',
    example: "the providers of the model refuse this gateway's credentials",
  },
  upstream_misconfigured: {
    cause: 'The provider does not know the model, the deployment or the address that the operator configured.',
    retry: 'Not before the operator has corrected the configuration.',
    remedy:
      'For the operator: compare the target’s `model` with the provider’s list, `bin/tollgate providers models PROVIDER`, and try it with `bin/tollgate check --live`.',
    example: 'no provider of the model knows it as configured',
  },
  upstream_malformed: {
    cause:
      'The provider’s answer breaks its format: it is no JSON, lacks what every answer has, or its events come in an impossible order. Such an answer is never passed on as a success.',
    retry: SAFE,
    remedy:
      'For the operator: the record says what is wrong. If a proxy is between gateway and provider, exclude it first.',
    example: 'the model provider sent an invalid answer: it has no choices',
  },
  upstream_truncated: {
    cause:
      'The provider closed the connection before the end of its answer. In a stream, an error event follows the output so far, and no end marker.',
    retry: 'Yes. Output that arrived is charged as [who pays](who-pays.md) says.',
    remedy:
      'Send the request again. For the operator: frequent cuts after the same time come from a proxy or a time limit at the provider.',
    example: 'the model provider closed the connection before the end of its answer',
  },
  rate_limited: {
    cause:
      'A limit of requests per minute, tokens per minute or concurrent requests of the key, end user, workspace, account or model is reached.',
    retry: SHORTLY,
    remedy:
      'Wait, spread requests, or [raise the limit](set-budgets.md). The headers of each answer say what remains; `GET /v1/key` too.',
    example: 'the limit of 60 requests per minute of this API key is reached; try again in 7 s',
  },
  rate_out_of_reach: {
    cause:
      'The request alone needs more tokens than the limit per minute allows, or the limit is far from free. Waiting a minute does not help.',
    retry: NO,
    remedy: 'Shorten the prompt, lower the maximum of output tokens, or [raise the limit](set-budgets.md).',
    example:
      'the prompt of this request alone exceeds the limit of 10000 tokens per minute of this API key; shorten it, or ask for a higher limit',
  },
  unpriced: {
    cause: 'A balance or a budget pays for the request, and the model has no price: it would be free.',
    retry: 'Not before the operator has set a price.',
    remedy:
      'For the operator: set `price` of the model in the file or on the Models page, or serve such models without a charge: `defaults: { unpriced: allow }`.',
    example:
      'the model "house-model" has no price, and this call is paid from a balance or a budget; the operator must give it one',
  },
  quota_exceeded: {
    cause:
      'A budget of the key, end user, workspace, account or model, or the balance of a prepaid account, does not cover the request. OpenCode and Qwen Code get 402, because they repeat every 429.',
    retry: 'Not before the budget resets or is raised; the message says when it resets.',
    remedy:
      'Raise the budget ([limits and budgets](set-budgets.md)) or top the account up: `bin/tollgate topup ACCOUNT --usd N`. Reservations of running requests count, and are released when they end.',
    example:
      'insufficient quota: the daily budget of this API key doesn’t cover this request; it will reset at 2026-11-28T00:00:00.000Z; ask the gateway operator for a higher one',
  },
  guardrail_blocked: {
    cause:
      'A guardrail of the workspace found what it blocks in the request or the answer, or cannot check it: a form with a file, sound, a response that runs in the background. An answer that a provider gave is charged.',
    retry: NO,
    remedy:
      'Leave out what the message names. An owner or admin sees the rule from the request in Logs (*Show rule*), and changes it on the Guardrails page ([guardrails](guardrails.md)).',
    example: 'the guardrail "Code names" blocks this request: a term of its list',
  },
  reader_too_slow: {
    cause: 'The client kept the connection open, but did not read its stream. The usage so far is charged.',
    retry: 'Yes, with a client that reads.',
    remedy:
      'Read the stream as it arrives. A proxy that buffers is the usual cause: [run behind TLS](run-behind-tls.md).',
    example: 'the client left before its answer was complete',
  },
  gateway_fault: {
    cause: 'The gateway failed. The log has the cause under the request id.',
    retry: 'Yes; report it if it repeats.',
    remedy: 'Report the request id and the log lines of the request.',
    example: 'the gateway failed; this is not your fault',
  },
  draining: {
    cause: 'The gateway is shutting down. Running requests finish; new ones go to the next process.',
    retry: SHORTLY,
    remedy:
      'Clients repeat by themselves. For the operator: take the process out of the load balancer by `/readyz`, which turns 503 first.',
    example: 'the gateway is shutting down; try again',
  },
  guardrail_unavailable: {
    cause: 'A guardrail could not run: its hook was late or failed, or its address cannot be decrypted.',
    retry: SHORTLY,
    remedy:
      'For the owner of the rule: check the service behind its hook. A rule may also let texts pass that it could not check: [guardrails](guardrails.md).',
    example:
      'the guardrail "Policy service" could not check this request: its service did not answer within 2000 ms; try again shortly',
  },
  over_capacity: {
    cause:
      'The process has as many requests, connections, bodies or uploads as its limits or the system’s limit of open files allow.',
    retry: SHORTLY,
    remedy:
      'For the operator: `/metrics` says which limit is reached; raise it or the limit of open files: [connections](connections.md).',
    example: 'the gateway has too many calls open; try again shortly',
  },
  store_unavailable: {
    cause:
      'The gateway cannot record requests: the disk is full or the store failed. It serves no request that it could not charge.',
    retry: SHORTLY,
    remedy:
      'For the operator: `/readyz` and the log name the cause; free space on the disk of the data folder: [when something breaks](operations.md).',
    example: 'the call could not be recorded; try again',
  },
};

/** The error of records that no answer has. */
export const CRASHED = {
  code: 'gateway_crashed',
  text: 'The process ended while the request was running, by a crash or a power failure. The client got no answer or a part of one. The next start ends the request: the last checkpoint is charged, or nothing ([who pays](who-pays.md)). Send the request again; report crashes with the log.',
} as const;

export const CONSOLE_INTRODUCTION = `The console and its API (\`/app/api\`) answer \`{"error":{"code","message","member","page"}}\`: \`member\` is the invalid member,
\`page\` the page of the console that fixes the error. \`faults\` lists all invalid members where there are several.`;

export const CONSOLE_ERRORS: { readonly [kind in ConsoleFailureKind]: string } = {
  invalid: 'A member has a wrong value. Correct the member that is named.',
  signed_out: 'There is no session, or it has ended. Sign in again; forms keep their input.',
  wrong_credential: 'The password, code or passkey is wrong. Each code works once.',
  forbidden: 'The role of the member, or the scope of the key, does not allow this. Ask an admin of the account.',
  cross_site:
    'The request comes from a page of another site. Set `server.public_url` to the address that browsers use.',
  not_found: 'It does not exist, or not within the rights of this member.',
  body_timeout: 'The body did not arrive in time. Send it again.',
  conflict: 'It was changed or exists already. Reload, and change it again.',
  gone: 'The one-time link was used or has expired. Ask for a new one.',
  too_large: 'The body is too large.',
  not_json: 'The body is not JSON. Send `content-type: application/json`.',
  too_many: 'Too many attempts. Wait for `retry-after` seconds.',
  gateway_fault: 'The gateway failed. The log has the cause.',
  store_unavailable: 'The store cannot be read or written. `/readyz` and the log name the cause.',
  over_capacity: 'Too many requests at the same time. Wait for `retry-after` seconds.',
};
