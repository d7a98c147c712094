/** Contains the fixed text of the configuration page, which is not generated from the schema. */

/** A complete file, which a test loads. */
export const EXAMPLE = `server: { host: 127.0.0.1, port: 8080, public_url: https://gw.example, trusted_proxies: [10.0.0.0/8] }
limits: { body_bytes_max: 32MiB, open_calls_max: 20000 }
defaults: { holds: adaptive, unpriced: refuse, broken_answers: bill }
providers:
  openai: { kind: openai, api_key: \${OPENAI_API_KEY} }
  anthropic: { kind: anthropic, api_key: \${ANTHROPIC_API_KEY} }
  groq: { kind: openai-compatible, preset: groq, api_key: \${GROQ_API_KEY} }
  lab:
    kind: openai-compatible
    base_url: \${LAB_URL:-http://127.0.0.1:9100/v1}
    api_key: none
    timeouts: { connect: 2s, first_byte: 300s }
models:
  gpt-5-mini:
    targets: [{ provider: openai }]
    price: { input: 0.25, cache_read: 0.025, output: 2.00 }
  claude-sonnet-4-6:
    protocols: [messages]
    targets: [{ provider: anthropic }]
  lab-model:
    alias: [lab-small, { name: claude-lab, protocols: [messages] }]
    targets: [{ provider: lab, model: qwen3-32b, timeouts: { total: 2h } }]
    capabilities: { reasoning: true, reasoning_effort: [none, low, high], image: false }
    price: free
`;

/** The prices of a model, which a test loads below `models`. */
export const PRICES_EXAMPLE = `    price:
      - { input: 2.00, output: 12.00 }
      - from: 2026-12-01
        input: 1.50
        output: 10.00
        tiers: [{ above: 200000, input: 3.00, output: 15.00 }]
`;

/** A price with more than text, which a test loads in the same place. */
export const EXTRAS_EXAMPLE = `    price:
      input: 2.50
      output: 10.00
      audio_input: 32.00
      audio_output: 64.00
      per_1000_requests: { web_search: 10.00, web_fetch: 0 }
`;

export const INTRODUCTION = `Tollgate needs no configuration. If there is one, it is a YAML file: the one named by \`--config\`, else by
\`TOLLGATE_CONFIG\`, else \`tollgate.yaml\` in the working directory. \`tollgate check [FILE]\` reports its mistakes with line and
column; \`tollgate check --schema\` prints its JSON Schema for editors.

Every member has a default. An unknown member or an invalid value is an error. An error at start stops the start. At a reload
(SIGHUP, or a changed file) the running configuration stays, and the log names the error; also where the file is gone or empty.

## Example

\`\`\`yaml
${EXAMPLE}\`\`\`

## Environment variables

\`\${NAME}\` in a value is replaced by the environment variable NAME, \`\${NAME:-default}\` by a default if the variable is unset or
empty. An unset variable without a default is an error. The replacement is one value and is never read as YAML. Write
\`$\${NAME}\` for the characters themselves. Names of members cannot contain variables.

| variable | meaning |
|---|---|
| \`HOST\`, \`PORT\` | override \`server.host\` and \`server.port\` |
| \`TOLLGATE_CONFIG\` | the file |
| \`TOLLGATE_DATA_DIR\` | the data folder; default \`./.tollgate\` |
| \`DATABASE_URL\`, \`REDIS_URL\` | not supported yet; the start is refused if one is set |

## Values

- **size**: a whole number and B, KiB, MiB, GiB or TiB: \`32MiB\`.
- **duration**: a whole number and ms, s, m, h or d: \`300ms\`, \`60s\`, \`15m\`.
- **price**: USD per million tokens, from 0 to 1000000, at most 6 decimals: \`0.25\`.
- **fee**: USD per 1,000 requests, from 0 to 1000, at most 6 decimals: \`10\`.
- **date**: a day, which begins in UTC: \`2026-12-01\`; or a moment with its zone: \`2026-12-01T08:00:00+01:00\`.
- **address**: scheme, host and path, without credentials, query and fragment: \`https://api.example.com/v1\`. The host must be
  written as it is called: \`http://127.0.0.1\`, not \`http://2130706433\`.
- Quotes are needed only where YAML needs them. Tags, merge keys (\`<<\`) and duplicate names are errors. A file has at most 1 MiB.
`;

export const WITHOUT_PROVIDERS = `## Without \`providers\`

Every provider in the table below whose variable is set is served under that name. \`OPENAI_BASE_URL\` and \`ANTHROPIC_BASE_URL\`
change the address of those two. The server also looks for an Ollama at 127.0.0.1:11434 and serves its models. If nothing is
found, the built-in demo model answers as \`demo\` and \`claude-demo\`. The start prints what was found. With \`providers\` in the
file, only the file counts.

In the file, an openai-compatible provider of the table is \`{ kind: openai-compatible, preset: NAME, api_key: … }\`.
`;

export const ENDPOINTS = `## Endpoints of a model

Every model that generates answers at \`/v1/chat/completions\`, \`/v1/messages\`, \`/v1/responses\` and Gemini's paths, whatever format its provider
speaks; if the formats differ, the request is [translated](translation.md). Models that embed, rank or moderate are known by their names, and answer
[at their own endpoints](formats.md#endpoints-without-translation) only. \`protocols\` of a model limits it to some endpoints, and says of a
name that does not tell what the model is for: \`protocols: [embeddings]\`. \`protocols\` of an alias limits that
name to one: a coding agent that needs names with \`claude\` finds \`claude-lab\` of the example, and a chat request for it is
refused. \`GET /v1/models\` lists every name with its \`protocols\`.
`;

export const PRICES = `## Several targets

Targets of the same priority are chosen by \`routing\`, and the next one answers if one fails: [fall back, share load and pool
keys](fallback.md). A name of a target or key appears in records, metrics and the console. Equal targets (the same model at the
same provider), equal names, a weight that the strategy does not read, and a target without a price under \`strategy: price\` are
errors.

## Capabilities

A translated request is written for its model: without an effort if the model does not reason, without sampling if it does not
support it. The catalogue knows what most models support. For a model of your own host, or if the catalogue is wrong, set
\`capabilities\`. A model that is not known to reason is sent no effort, and \`x-tollgate-dropped\` names the member: set
\`reasoning: true\` for a reasoning model on Ollama or vLLM.

## Prices that change, and prices of long input

A request is charged at the price in force at its arrival. A price with \`from\` starts at that time; before the first one, the
catalogue's price applies. If a request's input, including cache reads and writes, exceeds \`above\` of a tier, the whole request
has that tier's prices. Each record keeps its price in \`price_version\`, so that the cost can be recomputed.

\`\`\`yaml
${PRICES_EXAMPLE}\`\`\`

## Prices of audio, images and provider-run tools

Audio and image tokens are parts of input and output, as reasoning is. A member such as \`audio_input\` is their price; by default
they have the price of the whole. \`per_1000_requests\` has the fees of tools that the provider runs, by kind as its usage counts
them: \`web_search\` and \`web_fetch\` at Anthropic and OpenRouter; \`search_low\`, \`search_medium\`, \`search_high\` for the request
classes of Perplexity (\`web_search\` where it counts searches); \`search_source\` at xAI; or any other kind \`x\` that a provider
reports as \`x_requests\`. A missing fee has no default: such requests are not charged, the record names them in
\`unpriced_server_tools\`, and the log warns once per model and kind. Set 0 if they are free; the word \`free\` covers them. Tiers
have no fees.

\`\`\`yaml
${EXTRAS_EXAMPLE}\`\`\`

## Prices per unit

Rankings, speech, transcriptions and images may be billed by searches, characters, seconds and images instead of tokens. Then
\`input\` and \`output\` are 0, and \`per_unit\` has USD per unit, with at most 12 decimals. An image costs as its size and quality
(\`1024x1024/high\`), else as one of the two, else as the dearest of the list. The units are those of the answer, or without usage
in it those that the request asks for; a hold covers them. Tiers and multipliers do not change them.

\`\`\`yaml
models:
  rerank-v3.5: { targets: [{ provider: cohere }], price: { input: 0, output: 0, per_unit: { search: 0.002 } } }
  whisper-1: { targets: [{ provider: openai }], price: { input: 0, output: 0, per_unit: { second: 0.0001 } } }
  tts-1: { targets: [{ provider: openai }], price: { input: 0, output: 0, per_unit: { character: 0.000015 } } }
  dall-e-3:
    targets: [{ provider: openai }]
    price: { input: 0, output: 0, per_unit: { image: { 1024x1024/standard: 0.04, 1024x1024/hd: 0.08 } } }
\`\`\`

## Prices of service tiers, and of other models in a request

A request can ask for a more or less expensive tier: \`service_tier\`, \`speed\`, \`inference_geo\`. \`modifiers\` multiplies all token
rates for such a tier; the catalogue has the published factors. The tier that the answer states is charged, else the requested
one. \`service_tier: auto\` reserves for the most expensive tier that has a price. If a balance or a budget pays, a request for a
tier without a price gets 400 with the member's name, and so do members of unknown cost: \`provider\`, \`plugins\`, \`preset\`,
\`billing_policy\`. Otherwise such an answer is charged at the list price, the record has its \`tier\`, and the log warns once.

\`\`\`yaml
    price:
      input: 5.00
      output: 25.00
      modifiers: { speed: { fast: 2 }, inference_geo: { us: 1.1 }, service_tier: { priority: 1.75, flex: 0.5 } }
\`\`\`

A request can name other models too: \`fallbacks\`, \`models\`, the \`model\` of an advisor tool and others. Each must be a model of
the same provider, under the provider's name, that the key may use and that has the required data tags; otherwise the request is
refused as for \`model\`. Tollgate reserves for the most expensive of them, plus models that work in addition (an advisor), and
charges the model that the answer names. If several ran, each has a part in the record's \`usage.parts\` at its own price.
`;

export const WITHOUT_MODELS = `## Without \`models\`

Every model of the providers that the catalogue knows is served under the provider's name for it. If two providers have a model
of one name, the first in the table below, or in the file, answers, and the other is its [fallback](fallback.md). Unknown names
are not served.

With \`models\`, the file is the complete list: to add a model that the catalogue lacks, list it and all others. A provider that
the catalogue does not know serves nothing until its models are listed.
`;
