/** Lists the vendors of models that serve their own: addresses, credentials and deviations, as data. */
import { anthropic } from '../kinds/anthropic.ts';
import { gemini } from '../kinds/gemini.ts';
import { openai } from '../kinds/openai.ts';
import { cohere } from '../kinds/openai-compatible.ts';
import type { Preset } from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { ALL_LIMITS, BOTH_LIMITS, chatHost, chatQuirks, HAS_RESPONSES, messagesHost, OLDER_LIMIT } from './preset.ts';

const GEMINI_VARIABLES = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];

/** Reasoning models need their reasoning returned with the tool calls that followed it. */
const REASONING_BACK = { reasoningInHistory: 'reasoning_content' } as const;

export const VENDORS: readonly Preset[] = [
  {
    ...chatHost('OPENAI_API_KEY', {
      name: 'openai',
      title: 'OpenAI',
      baseUrl: 'https://api.openai.com/v1',
      source: 'https://platform.openai.com/docs/api-reference/chat (2026-11-22)',
      baseUrlVariable: 'OPENAI_BASE_URL',
      catalogProvider: 'openai',
      provenLimits: ALL_LIMITS,
      // Reasoning is billed as output, and chat completions have no member for it:
      // https://platform.openai.com/docs/guides/reasoning (2026-11-20)
      quirks: { ...NO_QUIRKS, hiddenReasoning: 'always', keepsState: true },
    }),
    kind: openai,
  },
  {
    ...chatHost('ANTHROPIC_API_KEY', {
      name: 'anthropic',
      title: 'Anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      source: 'https://docs.claude.com/en/api/messages (2026-11-22)',
      baseUrlVariable: 'ANTHROPIC_BASE_URL',
      catalogProvider: 'anthropic',
      provenLimits: OLDER_LIMIT,
      // Shows a summary but bills all reasoning:
      // https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking (2026-11-20)
      quirks: { ...NO_QUIRKS, hiddenReasoning: 'on_request', keepsState: true },
    }),
    kind: anthropic,
  },
  {
    ...chatHost(GEMINI_VARIABLES, {
      name: 'gemini',
      title: 'Google Gemini',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
      source: 'https://ai.google.dev/api/generate-content (2026-11-22)',
      baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
      catalogProvider: 'google',
      provenLimits: BOTH_LIMITS,
      quirks: gemini.quirks,
    }),
    kind: gemini,
  },
  chatHost(GEMINI_VARIABLES, {
    name: 'gemini-openai',
    title: 'Google Gemini, chat completions',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    source: 'https://ai.google.dev/gemini-api/docs/openai (2026-11-22)',
    catalogProvider: 'google',
    provenLimits: BOTH_LIMITS,
    quirks: gemini.quirks,
  }),
  chatHost('MISTRAL_API_KEY', {
    name: 'mistral',
    title: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    source: 'https://docs.mistral.ai/api (2026-11-22)',
    catalogProvider: 'mistral',
    provenLimits: OLDER_LIMIT,
    // 422 extra_forbidden on include_usage: https://github.com/openai/openai-agents-python/issues/442 (2025-04-05)
    // Tool call ids have nine letters and digits; a response prefix must be marked as such: wire reference D.3.
    // Voxtral chats and transcribes: https://docs.mistral.ai/studio/audio/overview (2026-11-23)
    // "Unexpected role 'user' after role 'tool'": https://github.com/onyx-dot-app/onyx/issues/6458 (2025-11-26); instructions
    // may not follow an answer or results either, by the order that its mistral-common checks.
    quirks: chatQuirks(
      {
        toolIds: 'nine',
        prefill: 'prefix',
        usageOption: false,
        top_k: false,
        strictTurns: true,
        answersResults: true,
      },
      { streamUsage: 'always', transcribes: /^voxtral/ },
    ),
  }),
  chatHost('DEEPSEEK_API_KEY', {
    name: 'deepseek',
    title: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    source: 'https://api-docs.deepseek.com (2026-11-22)',
    catalogProvider: 'deepseek',
    provenLimits: OLDER_LIMIT,
    // 400 without its reasoning: https://github.com/earendil-works/pi/issues/3636 (2026-04-24); also of answers without
    // calls: https://github.com/MoonshotAI/kimi-cli/issues/2141 (2026-05-01)
    // "Thinking mode does not support this tool_choice": https://github.com/deepseek-ai/DeepSeek-V3/issues/1376 (2026-05-30)
    quirks: chatQuirks(
      {
        ...REASONING_BACK,
        unreasonedRefused: 'all',
        thinkingSwitch: 'type',
        forcedWhileReasoning: false,
        top_k: false,
      },
      HAS_RESPONSES,
    ),
  }),
  messagesHost('DEEPSEEK_API_KEY', {
    name: 'deepseek-messages',
    title: 'DeepSeek, messages',
    baseUrl: 'https://api.deepseek.com/anthropic',
    source: 'https://api-docs.deepseek.com/guides/anthropic_api (2026-11-22)',
    catalogProvider: 'deepseek',
    // It answers unknown names with deepseek-v4-flash, and names of Claude Opus with deepseek-v4-pro.
    quirks: { ...NO_QUIRKS, answersAsOther: true },
  }),
  chatHost('XAI_API_KEY', {
    name: 'xai',
    title: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    source: 'https://docs.x.ai/docs/api-reference (2026-11-22)',
    catalogProvider: 'xai',
    provenLimits: BOTH_LIMITS,
    // Only grok-3-mini shows its reasoning, and reasoning models refuse `stop`:
    // https://docs.x.ai/docs/guides/reasoning (2026-11-20)
    // The Grok 4 models before 4.3, all but one, refuse an effort:
    // https://github.com/NousResearch/hermes-agent/issues/23088 (2026-05-24)
    // 4.3 may not reason, later ones always do: https://docs.x.ai/developers/model-capabilities/text/reasoning, by
    // https://github.com/mnfst/modelparams.dev/pull/330 (2026-08-31)
    quirks: chatQuirks(
      {
        stopMax: 0,
        effortsOf: [
          [/multi-agent/, ['low', 'medium', 'high', 'xhigh']],
          [/^grok-(?:code|4$|4-|4\.[12])/, []],
          [/^grok-4\.3/, ['none', 'low', 'medium', 'high']],
          [/^grok-4\.5/, ['low', 'medium', 'high']],
          [/^grok-4\.6/, ['low', 'medium', 'high', 'xhigh']],
        ],
      },
      { hiddenReasoning: 'always', ...HAS_RESPONSES, keepsState: true },
    ),
  }),
  chatHost('MOONSHOT_API_KEY', {
    name: 'moonshot',
    title: 'Moonshot',
    baseUrl: 'https://api.moonshot.ai/v1',
    source: 'https://platform.moonshot.ai/docs (2026-11-22)',
    catalogProvider: 'moonshot',
    provenLimits: OLDER_LIMIT,
    // K3 always thinks, by its effort; the others have a switch. Schemas: its error "not a valid moonshot flavored json
    // schema", https://github.com/MoonshotAI/kimi-code/issues/2661 (2026-08-05).
    // "reasoning_content is missing in assistant tool call message": https://github.com/NousResearch/hermes-agent/pull/15770
    // (2026-04-25)
    // "tool_choice specified is incompatible with thinking enabled": https://github.com/can1357/oh-my-pi/issues/1077
    // (2026-05-14)
    quirks: chatQuirks({
      ...REASONING_BACK,
      unreasonedRefused: 'calls',
      plainSchemas: true,
      prefill: 'partial',
      top_k: false,
      thinkingSwitch: 'type',
      withoutSwitch: /^kimi-k3/,
      forcedWhileReasoning: false,
      effortsOf: [
        [/^kimi-k3/, ['low', 'high', 'max']],
        [/^/, []],
      ],
    }),
  }),
  messagesHost('MOONSHOT_API_KEY', {
    name: 'moonshot-messages',
    title: 'Moonshot, messages',
    baseUrl: 'https://api.moonshot.ai/anthropic',
    source: 'https://platform.moonshot.ai/docs (2026-11-22)',
    catalogProvider: 'moonshot',
  }),
  chatHost('ZAI_API_KEY', {
    name: 'zai',
    title: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    source: 'https://docs.z.ai/api-reference/llm/chat-completion (2026-11-22)',
    catalogProvider: 'zai',
    provenLimits: OLDER_LIMIT,
    // GLM-5.3 always thinks, "please use low, high, or max": https://github.com/theopenco/llmgateway/pull/3605
    // (2026-08-14); GLM-5.2 has two efforts: https://github.com/theopenco/llmgateway/pull/3049 (2026-07-14)
    quirks: chatQuirks({
      thinkingSwitch: 'type',
      withoutSwitch: /^glm-5\.3/,
      effortsOf: [
        [/^glm-5\.3/, ['low', 'high', 'max']],
        [/^glm-5\.2/, ['high', 'max']],
        [/^/, []],
      ],
    }),
  }),
  messagesHost('ZAI_API_KEY', {
    name: 'zai-messages',
    title: 'Z.ai, messages',
    baseUrl: 'https://api.z.ai/api/anthropic',
    source: 'https://docs.z.ai/devpack/tool/claude (2026-11-22)',
    catalogProvider: 'zai',
  }),
  chatHost('DASHSCOPE_API_KEY', {
    name: 'alibaba',
    title: 'Alibaba Model Studio',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    source: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope (2026-11-22)',
    catalogProvider: 'alibaba',
    provenLimits: OLDER_LIMIT,
    // "The tool_choice parameter does not support being set to required or object in thinking mode":
    // https://github.com/QwenLM/qwen-code/issues/7659 (2026-07-24)
    // "System message must be at the beginning", of its chat templates: https://github.com/BerriAI/litellm/issues/26879
    // (2026-05-23)
    quirks: chatQuirks({
      strictTurns: true,
      thinkingSwitch: 'enable',
      forcedWhileReasoning: false,
      effortsOf: [[/^/, []]],
    }),
  }),
  messagesHost('DASHSCOPE_API_KEY', {
    name: 'alibaba-messages',
    title: 'Alibaba Model Studio, messages',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/apps/anthropic',
    source: 'https://www.alibabacloud.com/help/en/model-studio/claude-code (2026-11-22)',
    catalogProvider: 'alibaba',
  }),
  chatHost('MINIMAX_API_KEY', {
    name: 'minimax',
    title: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    source: 'https://platform.minimax.io/docs/api-reference/text-openai-api (2026-11-22)',
    // Several system messages are "invalid chat setting (2013)": https://github.com/can1357/oh-my-pi/pull/954 (2026-05-07)
    quirks: chatQuirks({ strictTurns: true, thinkTags: true, effortsOf: [[/^/, []]] }),
  }),
  messagesHost('MINIMAX_API_KEY', {
    name: 'minimax-messages',
    title: 'MiniMax, messages',
    baseUrl: 'https://api.minimax.io/anthropic',
    source: 'https://platform.minimax.io/docs/guides/quickstart (2026-11-22)',
  }),
  // The path has no version.
  chatHost('PERPLEXITY_API_KEY', {
    name: 'perplexity',
    title: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    source: 'https://docs.perplexity.ai/guides/chat-completions-guide (2026-11-22)',
    catalogProvider: 'perplexity',
    provenLimits: OLDER_LIMIT,
    // "user and assistant roles should be alternating": https://github.com/anomalyco/opencode/issues/9416 (2026-01-19)
    quirks: chatQuirks({ strictTurns: true, stopMax: 0, thinkTags: true }),
  }),
  // It embeds and ranks, and does not chat.
  chatHost('VOYAGE_API_KEY', {
    name: 'voyage',
    title: 'Voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    source: 'https://docs.voyageai.com/reference/embeddings-api (2026-11-23)',
    quirks: chatQuirks({}, { forms: ['voyage_embeddings', 'voyage_rerank'] }),
  }),
  // It embeds and ranks.
  chatHost('JINA_API_KEY', {
    name: 'jina',
    title: 'Jina',
    baseUrl: 'https://api.jina.ai/v1',
    source: 'https://api.jina.ai/docs (2026-11-23)',
  }),
  {
    ...chatHost(['COHERE_API_KEY', 'CO_API_KEY'], {
      name: 'cohere',
      title: 'Cohere',
      baseUrl: 'https://api.cohere.ai',
      source: 'https://docs.cohere.com/docs/compatibility-api (2026-11-22)',
      // It refuses stream_options: https://strandsagents.com/docs/user-guide/concepts/model-providers/cohere (2026-11-23)
      quirks: chatQuirks({ usageOption: false, top_k: false, parallelToolCalls: false }, { streamUsage: 'always' }),
    }),
    kind: cohere,
  },
];
