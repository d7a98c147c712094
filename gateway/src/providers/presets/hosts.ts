/** Lists the hosts that serve models of others: addresses, credentials and deviations, as data. */
import { databricks } from '../kinds/databricks.ts';
import type { Preset } from '../provider.ts';
import { chatHost, chatQuirks, HAS_COMPLETIONS, HAS_RESPONSES, messagesHost } from './preset.ts';

export const HOSTS: readonly Preset[] = [
  chatHost('GROQ_API_KEY', {
    name: 'groq',
    title: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    source: 'https://console.groq.com/docs/openai (2026-11-22)',
    catalogProvider: 'groq',
    // https://github.com/apache/maka/pull/978 (2026-07-14), for Qwen https://github.com/earendil-works/pi/issues/1745
    // (2026-03-03)
    quirks: chatQuirks({
      top_k: false,
      effortsOf: [
        [/gpt-oss/, ['low', 'medium', 'high']],
        [/qwen3/, ['none']],
        [/^/, []],
      ],
    }),
  }),
  chatHost('TOGETHER_API_KEY', {
    name: 'together',
    title: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    source: 'https://docs.together.ai/docs/openai-api-compatibility (2026-11-22)',
    catalogProvider: 'together',
    quirks: chatQuirks({}, HAS_COMPLETIONS),
  }),
  chatHost('FIREWORKS_API_KEY', {
    name: 'fireworks',
    title: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    source: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility (2026-11-22)',
    catalogProvider: 'fireworks',
    quirks: chatQuirks({ effortsOf: [[/^/, ['none', 'low', 'medium', 'high']]] }, HAS_COMPLETIONS),
  }),
  messagesHost('FIREWORKS_API_KEY', {
    name: 'fireworks-messages',
    title: 'Fireworks, messages',
    baseUrl: 'https://api.fireworks.ai/inference',
    source: 'https://docs.fireworks.ai/tools-sdks/anthropic-compatibility (2026-11-22)',
    catalogProvider: 'fireworks',
  }),
  chatHost('CEREBRAS_API_KEY', {
    name: 'cerebras',
    title: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    source: 'https://inference-docs.cerebras.ai/resources/openai (2026-11-22)',
    catalogProvider: 'cerebras',
    // "Input should be 'none', 'low', 'medium' or 'high'": https://github.com/mnfst/modelparams.dev/pull/115 (2026-07-14);
    // GPT-OSS always reasons: https://github.com/elizaOS/eliza/pull/16299 (2026-07-13)
    quirks: chatQuirks({
      outputLimitMember: 'max_completion_tokens',
      top_k: false,
      effortsOf: [
        [/gpt-oss/, ['low', 'medium', 'high']],
        [/^/, ['none', 'low', 'medium', 'high']],
      ],
    }),
  }),
  chatHost('SAMBANOVA_API_KEY', {
    name: 'sambanova',
    title: 'SambaNova',
    baseUrl: 'https://api.sambanova.ai/v1',
    source: 'https://docs.sambanova.ai (2026-11-22)',
  }),
  chatHost('NEBIUS_API_KEY', {
    name: 'nebius',
    title: 'Nebius',
    // Renamed from AI Studio.
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    source: 'https://docs.tokenfactory.nebius.com/api-reference/introduction (2026-11-22)',
  }),
  chatHost('HYPERBOLIC_API_KEY', {
    name: 'hyperbolic',
    title: 'Hyperbolic',
    baseUrl: 'https://api.hyperbolic.xyz/v1',
    source: 'https://docs.hyperbolic.xyz (2026-11-20)',
  }),
  chatHost('DEEPINFRA_API_KEY', {
    name: 'deepinfra',
    title: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    source: 'https://deepinfra.com/docs/openai_api (2026-11-22)',
    quirks: chatQuirks({}, HAS_COMPLETIONS),
  }),
  chatHost('OPENROUTER_API_KEY', {
    name: 'openrouter',
    title: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    source: 'https://openrouter.ai/docs/api-reference/overview (2026-11-22)',
    // It reads PDF files for models that cannot.
    quirks: chatQuirks({ files: true }, { ...HAS_RESPONSES, ...HAS_COMPLETIONS }),
  }),
  messagesHost('OPENROUTER_API_KEY', {
    name: 'openrouter-messages',
    title: 'OpenRouter, messages',
    baseUrl: 'https://openrouter.ai/api',
    source: 'https://openrouter.ai/docs/api-reference/overview (2026-11-22)',
  }),
  // Its names are `publisher/name`.
  chatHost('GITHUB_MODELS_TOKEN', {
    name: 'github-models',
    title: 'GitHub Models',
    baseUrl: 'https://models.github.ai/inference',
    source: 'https://docs.github.com/en/rest/models/inference (2026-11-22)',
    quirks: chatQuirks({ top_k: false, stopMax: 4 }),
  }),
  chatHost('NVIDIA_API_KEY', {
    name: 'nvidia-nim',
    title: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    source: 'https://docs.api.nvidia.com/nim/reference/llm-apis (2026-11-22)',
    // It answers unknown members with 400 or 422.
    quirks: chatQuirks({ top_k: false, parallelToolCalls: false }),
  }),
  {
    ...chatHost('DATABRICKS_TOKEN', {
      name: 'databricks',
      title: 'Databricks',
      baseUrl: 'https://{workspace}.cloud.databricks.com',
      source:
        'https://learn.microsoft.com/en-us/azure/databricks/machine-learning/model-serving/query-chat-models (2026-11-23)',
    }),
    kind: databricks,
  },
  chatHost('SNOWFLAKE_TOKEN', {
    name: 'snowflake',
    title: 'Snowflake Cortex',
    baseUrl: 'https://{account}.snowflakecomputing.com/api/v2/cortex/v1',
    source: 'https://docs.snowflake.com/user-guide/snowflake-cortex/cortex-rest-api (2026-11-23)',
    quirks: chatQuirks({ outputLimitMember: 'max_completion_tokens' }),
  }),
  messagesHost('SNOWFLAKE_TOKEN', {
    name: 'snowflake-messages',
    title: 'Snowflake Cortex, messages',
    baseUrl: 'https://{account}.snowflakecomputing.com/api/v2/cortex',
    source: 'https://docs.snowflake.com/user-guide/snowflake-cortex/cortex-rest-api (2026-11-23)',
  }),
  // Its names are `@cf/publisher/name`.
  chatHost('CLOUDFLARE_API_TOKEN', {
    name: 'cloudflare',
    title: 'Cloudflare Workers AI',
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1',
    source: 'https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility (2026-11-22)',
  }),
  // Its names are `organization/model:provider`.
  chatHost(['HF_TOKEN', 'HUGGINGFACE_API_KEY'], {
    name: 'huggingface',
    title: 'Hugging Face Inference Providers',
    baseUrl: 'https://router.huggingface.co/v1',
    source: 'https://huggingface.co/docs/inference-providers (2026-11-22)',
  }),
];
