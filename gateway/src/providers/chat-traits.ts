/**
 * Defines what chat-completions providers accept, as data: a base for each kind, the deviations of well-known ones, and
 * what OpenAI's models refuse, by model name. For unknown providers it guesses only where a wrong guess is harmless.
 */
import type { ChatTraits } from '../protocols/upstream-traits.ts';

/** What a provider that only claims compatibility can be trusted with. */
const COMPATIBLE: ChatTraits = {
  outputLimitMember: 'max_tokens',
  systemRole: 'system',
  sampling: true,
  top_k: true,
  efforts: null,
  stopMax: 16,
  toolIds: 'any',
  mediaInToolMessages: false,
  files: false,
  prefill: 'plain',
  cacheMarks: false,
  reasoningInHistory: null,
  nullContent: true,
  openaiMembers: false,
  parallelToolCalls: true,
  strictSchemas: false,
  usageOption: true,
};

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

/** The `chat` traits in which a provider differs from the base. */
export interface ChatQuirks extends Partial<Omit<ChatTraits, 'efforts'>> {
  /**
   * The efforts of its reasoning models by the model's name at the provider; the first match wins, and a model without
   * a row accepts all.
   */
  readonly effortsOf?: ReadonlyArray<readonly [model: RegExp, efforts: readonly string[]]>;
}

/**
 * The traits of a provider for one of its models. `reasons` null: unknown. Only a model known to reason is sent an
 * effort: others answer 400 to the member (Groq, Mistral, Ollama, DeepSeek).
 */
export function chatTraitsOf(
  isOpenAi: boolean,
  quirks: ChatQuirks,
  model: string,
  reasons: boolean | null,
): ChatTraits {
  const { effortsOf = [], ...others } = quirks;
  if (!isOpenAi) {
    const known = effortsOf.find(([name]) => name.test(model))?.[1] ?? null;
    return { ...COMPATIBLE, ...others, efforts: reasons === true ? known : [] };
  }
  const efforts = openAiEfforts(model);
  if (reasons === false || (reasons === null && efforts === null)) return { ...OPENAI, efforts: [], ...others };
  return {
    ...OPENAI,
    systemRole: 'developer',
    // Wire reference C.2. The name does not tell whether a model accepts `stop`, so none is sent it:
    // https://github.com/plmbr/notebook-intelligence/pull/414 (2026-08-28).
    sampling: false,
    stopMax: 0,
    efforts,
    cacheMarks: takesCacheMarks(model),
    // o-series models call one tool at a time and refuse the member.
    parallelToolCalls: !/^o\d/.test(model),
    ...others,
  };
}

/** `major.minor` of a GPT name as an increasing number (5.6 → 506); null: not such a name. */
function gptVersion(model: string): number | null {
  const found = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0);
}

/** Cache breakpoints start with gpt-5.6. Source: wire reference A.2. */
function takesCacheMarks(model: string): boolean {
  return (gptVersion(model) ?? 0) >= 506;
}

/** The efforts of each model generation; null: not a reasoning model by its name, or one of unknown generation. */
function openAiEfforts(model: string): readonly string[] | null {
  if (/^o\d/.test(model)) return ['low', 'medium', 'high'];
  const version = gptVersion(model);
  if (version === null || version < 500) return null;
  if (version === 500) return ['minimal', 'low', 'medium', 'high'];
  if (version === 501) return ['none', 'low', 'medium', 'high'];
  if (version < 506) return ['none', 'low', 'medium', 'high', 'xhigh'];
  return ['none', 'low', 'medium', 'high', 'xhigh', 'max'];
}
