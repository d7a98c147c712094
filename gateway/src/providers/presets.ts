/**
 * Lists well-known providers: address, the environment variable of the credential, and deviations from the format, as
 * data. Makes no calls.
 */

import type { OutputLimitMember } from '../protocols/request/request-facts.ts';
import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { openaiCompatible } from './openai-compatible.ts';
import type { Preset } from './provider.ts';
import { NO_QUIRKS, type ProviderQuirks } from './quirks.ts';

/** Reasoning models of these providers need their reasoning returned with the tool calls that followed it. */
const REASONING_BACK: ProviderQuirks = { ...NO_QUIRKS, chat: { reasoningInHistory: 'reasoning_content' } };

const NO_LIMITS: readonly OutputLimitMember[] = [];
const OLDER_LIMIT: readonly OutputLimitMember[] = ['max_tokens'];
const BOTH_LIMITS: readonly OutputLimitMember[] = ['max_tokens', 'max_completion_tokens'];

/** A server on this machine answers a few requests at once; more only slow each other down. */
const LOCAL_CONCURRENCY = 8;

const GEMINI_VARIABLES = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];

function compatible(
  name: string,
  title: string,
  baseUrl: string,
  variables: readonly string[],
  catalog: string | null,
) {
  return {
    name,
    title,
    kind: openaiCompatible,
    baseUrl,
    credentialVariables: variables,
    baseUrlVariable: null,
    catalogProvider: catalog,
    quirks: NO_QUIRKS,
    provenLimits: NO_LIMITS,
    maxConcurrency: null,
  } satisfies Preset;
}

/** As of November 2026. Order matters if two providers serve a model of one name: the earlier one gets the call. */
export const PRESETS: readonly Preset[] = [
  {
    ...compatible('openai', 'OpenAI', 'https://api.openai.com/v1', ['OPENAI_API_KEY'], 'openai'),
    kind: openai,
    baseUrlVariable: 'OPENAI_BASE_URL',
    provenLimits: BOTH_LIMITS,
    // Reasoning is billed as output, and chat completions have no member for it: https://platform.openai.com/docs/guides/reasoning (2026-11-20)
    quirks: { ...NO_QUIRKS, hiddenReasoning: 'always' },
  },
  {
    ...compatible('anthropic', 'Anthropic', 'https://api.anthropic.com/v1', ['ANTHROPIC_API_KEY'], 'anthropic'),
    kind: anthropic,
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    provenLimits: OLDER_LIMIT,
    // Shows a summary but bills all reasoning: https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
    // (2026-11-20)
    quirks: { ...NO_QUIRKS, hiddenReasoning: 'on_request' },
  },
  {
    ...compatible(
      'gemini',
      'Google Gemini',
      'https://generativelanguage.googleapis.com/v1beta',
      GEMINI_VARIABLES,
      'google',
    ),
    kind: gemini,
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
    provenLimits: BOTH_LIMITS,
    quirks: gemini.quirks,
  },
  {
    // https://ai.google.dev/gemini-api/docs/openai
    ...compatible(
      'gemini-openai',
      'Google Gemini, chat completions',
      'https://generativelanguage.googleapis.com/v1beta/openai',
      GEMINI_VARIABLES,
      'google',
    ),
    provenLimits: BOTH_LIMITS,
    quirks: gemini.quirks,
  },
  {
    ...compatible('mistral', 'Mistral', 'https://api.mistral.ai/v1', ['MISTRAL_API_KEY'], 'mistral'),
    provenLimits: OLDER_LIMIT,
    // 422 extra_forbidden on include_usage: https://github.com/openai/openai-agents-python/issues/442 (2025-04-05)
    // Tool call ids have nine letters and digits; a response prefix must be marked as such: wire reference D.3.
    quirks: { ...NO_QUIRKS, streamUsage: 'always', chat: { toolIds: 'nine', prefill: 'prefix', usageOption: false } },
  },
  {
    ...compatible('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', ['DEEPSEEK_API_KEY'], 'deepseek'),
    provenLimits: OLDER_LIMIT,
    // 400 without it: https://github.com/earendil-works/pi/issues/3636 (2026-04-24)
    quirks: REASONING_BACK,
  },
  {
    ...compatible('xai', 'xAI', 'https://api.x.ai/v1', ['XAI_API_KEY'], 'xai'),
    provenLimits: BOTH_LIMITS,
    // Only grok-3-mini shows its reasoning: https://docs.x.ai/docs/guides/reasoning (2026-11-20)
    // The Grok 4 models before 4.3, all but one, refuse an effort:
    // https://github.com/NousResearch/hermes-agent/issues/23088 (2026-05-24)
    quirks: {
      ...NO_QUIRKS,
      hiddenReasoning: 'always',
      chat: {
        effortsOf: [
          [/multi-agent/, ['low', 'medium', 'high', 'xhigh']],
          [/^grok-(?:code|4$|4-|4\.[12])/, []],
        ],
      },
    },
  },
  {
    ...compatible('groq', 'Groq', 'https://api.groq.com/openai/v1', ['GROQ_API_KEY'], 'groq'),
    // https://github.com/apache/maka/pull/978 (2026-07-14), for Qwen https://github.com/earendil-works/pi/issues/1745 (2026-03-03)
    quirks: {
      ...NO_QUIRKS,
      chat: {
        effortsOf: [
          [/gpt-oss/, ['low', 'medium', 'high']],
          [/qwen3/, ['none']],
          [/^/, []],
        ],
      },
    },
  },
  compatible('together', 'Together', 'https://api.together.xyz/v1', ['TOGETHER_API_KEY'], 'together'),
  compatible('fireworks', 'Fireworks', 'https://api.fireworks.ai/inference/v1', ['FIREWORKS_API_KEY'], 'fireworks'),
  compatible('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', ['CEREBRAS_API_KEY'], 'cerebras'),
  {
    ...compatible('moonshot', 'Moonshot', 'https://api.moonshot.ai/v1', ['MOONSHOT_API_KEY'], 'moonshot'),
    provenLimits: OLDER_LIMIT,
    // Wire reference D.3.
    quirks: REASONING_BACK,
  },
  {
    ...compatible('zai', 'Z.ai', 'https://api.z.ai/api/paas/v4', ['ZAI_API_KEY'], 'zai'),
    provenLimits: OLDER_LIMIT,
  },
  {
    ...compatible(
      'alibaba',
      'Alibaba Model Studio',
      'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      ['DASHSCOPE_API_KEY'],
      'alibaba',
    ),
    provenLimits: OLDER_LIMIT,
  },
  // The path has no version: https://docs.perplexity.ai/guides/chat-completions-guide
  {
    ...compatible('perplexity', 'Perplexity', 'https://api.perplexity.ai', ['PERPLEXITY_API_KEY'], 'perplexity'),
    provenLimits: OLDER_LIMIT,
  },
  compatible('sambanova', 'SambaNova', 'https://api.sambanova.ai/v1', ['SAMBANOVA_API_KEY'], null),
  // Renamed from AI Studio: https://docs.tokenfactory.nebius.com/api-reference/introduction
  compatible('nebius', 'Nebius', 'https://api.tokenfactory.nebius.com/v1', ['NEBIUS_API_KEY'], null),
  compatible('hyperbolic', 'Hyperbolic', 'https://api.hyperbolic.xyz/v1', ['HYPERBOLIC_API_KEY'], null),
  {
    ...compatible('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], null),
    // It reads PDF files for models that cannot.
    quirks: { ...NO_QUIRKS, chat: { files: true } },
  },
  {
    ...compatible('ollama', 'Ollama', 'http://127.0.0.1:11434/v1', [], null),
    maxConcurrency: LOCAL_CONCURRENCY,
    // Wire reference C.2 (assistant text) and D.3.
    quirks: { ...NO_QUIRKS, chat: { nullContent: false, parallelToolCalls: false } },
  },
];

/** The origin of a preset's address. */
export function originOf(preset: Preset): string {
  return new URL(preset.baseUrl).origin;
}

/** Its address, and the origin of it. */
export function addressOf(preset: Preset): { readonly url: string; readonly origin: string } {
  return { url: preset.baseUrl, origin: originOf(preset) };
}

/** The preset of that name, or undefined. */
export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}
