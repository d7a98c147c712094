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
  house-model:
    alias: [house, { name: claude-house, protocols: [messages] }]
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
export const APART_EXAMPLE = `    price:
      input: 2.50
      output: 10.00
      audio_input: 32.00
      audio_output: 64.00
      per_1000_requests: { web_search: 10.00, web_fetch: 0 }
`;

export const INTRODUCTION = `Tollgate needs no configuration. Where it has one, it is a YAML file: the one that \`--config\` names, else the one that
\`TOLLGATE_CONFIG\` names, else \`tollgate.yaml\` in the working directory. \`tollgate check [FILE]\` says what is wrong with
it, with line and column; \`tollgate check --schema\` prints its JSON Schema for editors.

Every member has a default. A member that this version does not know is an error, and so is a bad value: a file with an
error at start stops the start; at a reload (SIGHUP, or the file changes) the running configuration stays, and the log
says so.

## Example

\`\`\`yaml
${EXAMPLE}\`\`\`

## Values from the environment

\`\${NAME}\` in a value stands for the environment variable NAME, and \`\${NAME:-default}\` gives a default for where it is
unset or empty. A variable that is unset and has no default is an error. What is put in is one value and is never read as
YAML. For the characters themselves write \`$\${NAME}\`. Names of members cannot hold variables.

| variable | meaning |
|---|---|
| \`HOST\`, \`PORT\` | go before \`server.host\` and \`server.port\` |
| \`TOLLGATE_CONFIG\` | the file |
| \`TOLLGATE_DATA_DIR\` | the data folder; default \`./.tollgate\` |
| \`DATABASE_URL\`, \`REDIS_URL\` | not supported yet: a set one refuses to start |

## How values are written

- **size**: a whole number and B, KiB, MiB, GiB or TiB: \`32MiB\`.
- **duration**: a whole number and ms, s, m, h or d: \`300ms\`, \`60s\`, \`15m\`.
- **price**: USD per million tokens, from 0 to 1000000, at most 6 decimals: \`0.25\`.
- **fee**: USD per 1,000 requests, from 0 to 1000, at most 6 decimals: \`10\`.
- **date**: a day, which begins in UTC: \`2026-12-01\`; or a moment with its zone: \`2026-12-01T08:00:00+01:00\`.
- **address**: scheme, host and path, without credentials, query and fragment: \`https://api.example.com/v1\`. The host must
  be written as it will be called, so \`http://127.0.0.1\` and not \`http://2130706433\`.
- Quotes are needed only where YAML needs them. Tags, merge keys (\`<<\`) and names given twice are errors; a file has at
  most 1 MiB.
`;

export const WITHOUT_PROVIDERS = `## Without \`providers\`

Each host of the table below whose variable is set becomes a provider of that name. \`OPENAI_BASE_URL\` and
\`ANTHROPIC_BASE_URL\` give those two another address. A server also looks for an Ollama on 127.0.0.1:11434 and serves the
models it has. Where nothing is found the built-in demo answers, under the model names \`demo\` and \`claude-demo\`. What was
found is printed at start. With \`providers\` in the file, the file alone counts.

In the file, a host whose kind is openai-compatible is named as \`{ kind: openai-compatible, preset: NAME, api_key: … }\`.
`;

export const ENDPOINTS = `## Endpoints of a model

Every model answers at \`/v1/chat/completions\` and at \`/v1/messages\`, whatever format its provider speaks: where the two
differ, the call is translated, and [translation.md](translation.md) says what becomes of each member. \`protocols\` of a
model keeps it to one endpoint. \`protocols\` of an alias keeps that name to one, and the model has its other names at both:
a coding agent that wants names with \`claude\` in them finds \`claude-house\` of the example, and a chat call that asks for it
is refused. \`GET /v1/models\` lists every name, each with its \`protocols\`.
`;

export const PRICES = `## What a model takes

A request that is translated is written for the model that it goes to: without an effort where the model does not reason,
without sampling where it takes none. The catalogue knows what most models of most providers take. For a model of your own
host, or where the catalogue is wrong, \`capabilities\` says it. A model that neither of them says to reason is sent no
effort, and the caller finds the member in \`x-tollgate-dropped\`: write \`reasoning: true\` for a reasoning model on Ollama
or vLLM.

## Prices that change, and prices of long input

A call is billed at the price that is in force when it arrives. A price with \`from\` waits for its moment, so that a change
can stand in the file before it is due; until the first of them begins, the catalogue's price counts. Where a call's input,
cache reads and writes included, is longer than \`above\` of a tier, the whole call is at that tier's prices. Each record
keeps its price in \`price_version\`, from which it can be computed again.

\`\`\`yaml
${PRICES_EXAMPLE}\`\`\`

## Prices of sound, images and tools that run upstream

Tokens of sound and images are parts of input and output, as reasoning is: a member such as \`audio_input\` is what they cost
instead, and where it is left out they cost what their whole does. \`per_1000_requests\` has the fees of tools that run at
the host, by kind as its usage counts them: \`web_search\` and \`web_fetch\` at Anthropic and OpenRouter; \`search_low\`,
\`search_medium\`, \`search_high\` for the classes of request at Perplexity (\`web_search\` where it counts searches);
\`search_source\` at xAI; or any other kind \`x\` that a host reports as \`x_requests\`. A fee that is missing cannot be filled
from another: such requests are billed nothing, the record names them in \`unpriced_server_tools\`, and the log warns once
for each model and kind. Write 0 where they are free. The word \`free\` covers them. A tier has no fees of its own.

\`\`\`yaml
${APART_EXAMPLE}\`\`\`

## Prices of tiers, and of other models in a request

A request may ask for a tier that costs more or less: \`service_tier\`, \`speed\`, \`inference_geo\`. \`modifiers\` says by how
much all rates per token are multiplied then; the catalogue has the factors that vendors publish. The tier that the answer
states is charged; where it states none, the tier that was asked for. \`service_tier: auto\` holds the dearest tier that has a
price. Where a balance or a budget pays, a request for a tier without a price is refused with 400 and the member's name, and
so are members whose cost nobody can tell: \`provider\`, \`plugins\`, \`preset\`, \`billing_policy\`. Elsewhere such an answer is
charged at the list price, the record has its \`tier\`, and the log warns once.

\`\`\`yaml
    price:
      input: 5.00
      output: 25.00
      modifiers: { speed: { fast: 2 }, inference_geo: { us: 1.1 }, service_tier: { priority: 1.75, flex: 0.5 } }
\`\`\`

A request may name other models as well: \`fallbacks\`, \`models\`, the \`model\` of an advisor tool and the like. Each must be a
model of the same provider, by the provider's own name, that the key may use; it is answered as \`model\` is where it may not.
The dearest of them is held, what works beside the model (an advisor) on top, and the model that the answer names is
charged. Where several ran, each has its part in the record's \`usage.parts\`, at its own price.
`;

export const WITHOUT_MODELS = `## Without \`models\`

Every model that the catalogue knows of the providers is served under the provider's own name for it. Where two providers
have a model of one name, the one that is first in the table below, or in the file, answers. A name that is not known is
not served.

With \`models\` the file is the complete list: to add a model that the catalogue lacks, name it and all others that shall
be served. A host that the catalogue does not know serves nothing until its models are named.
`;
