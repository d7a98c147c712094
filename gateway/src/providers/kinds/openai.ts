/** Provides the kind `openai`: OpenAI's chat completions and Responses, and the members that its models refuse. */
import { OPENAI_DIRECT } from '../../protocols/model-formats.ts';
import type { ChatTraits } from '../../protocols/upstream-traits.ts';
import type { RemoteKind } from '../provider.ts';
import { API_KEY, COMPATIBLE, missingSecrets, openaiCompatible } from './openai-compatible.ts';

const OPENAI: ChatTraits = {
  ...COMPATIBLE,
  outputLimitMember: 'max_completion_tokens',
  top_k: false,
  stopMax: 4,
  toolIds: 'forty',
  files: true,
  prefill: 'refused',
  openaiMembers: true,
  strictSchemas: true,
};

/** Models that chat completions do not have. Source: @langchain/openai 1.6.0 (2026-11-22). */
const ONLY_RESPONSES = /^(?:gpt-5[\w.]*|o\d)-pro\b|codex/;

export const openai: RemoteKind = {
  ...openaiCompatible,
  name: 'openai',
  title: 'OpenAI',
  speaks: 'chat completions and Responses',
  protocols: ['chat', 'responses', ...OPENAI_DIRECT],
  protocolsOf: (model) => (ONLY_RESPONSES.test(model) ? ['responses'] : ['chat', 'responses', ...OPENAI_DIRECT]),
  takes: ['base_url', 'timeouts'],
  // https://platform.openai.com/docs/api-reference/responses/input-tokens (2026-11-23)
  endpoint: (protocol, operation, model, settings) =>
    protocol === 'responses' && operation === 'count_tokens'
      ? '/responses/input_tokens'
      : openaiCompatible.endpoint(protocol, operation, model, settings),
  objects: { format: 'responses', pathOf: (collection) => `/${collection}` },
  checkConfig: (given) => missingSecrets([API_KEY], given),
  chatTraits({ effortsOf: _, withoutSwitch: __, ...quirks }, model, reasons) {
    const efforts = effortsOf(model);
    if (reasons === false || (reasons === null && efforts === null)) return { ...OPENAI, efforts: [], ...quirks };
    return {
      ...OPENAI,
      systemRole: 'developer',
      // Wire reference C.2. The name does not tell whether a model accepts `stop`, so none is sent it:
      // https://github.com/plmbr/notebook-intelligence/pull/414 (2026-08-28).
      sampling: false,
      stopMax: 0,
      efforts,
      // Cache breakpoints start with gpt-5.6. Source: wire reference A.2.
      cacheMarks: (gptVersion(model) ?? 0) >= 506,
      // o-series models call one tool at a time and refuse the member.
      parallelToolCalls: !/^o\d/.test(model),
      ...quirks,
    };
  },
};

/** `major.minor` of a GPT name as an increasing number (5.6 → 506); null: not such a name. */
function gptVersion(model: string): number | null {
  const found = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0);
}

/** The efforts of each model generation; null: not a reasoning model by its name, or one of unknown generation. */
function effortsOf(model: string): readonly string[] | null {
  if (/^o\d/.test(model)) return ['low', 'medium', 'high'];
  const version = gptVersion(model);
  if (version === null || version < 500) return null;
  if (version === 500) return ['minimal', 'low', 'medium', 'high'];
  if (version === 501) return ['none', 'low', 'medium', 'high'];
  if (version < 506) return ['none', 'low', 'medium', 'high', 'xhigh'];
  return ['none', 'low', 'medium', 'high', 'xhigh', 'max'];
}
