/**
 * Owns what chat-completions hosts take, as data: a base for each kind of host, what the well-known ones do otherwise, and
 * what OpenAI's models refuse by their names. Only guesses that cannot hurt are made for hosts nobody knows.
 */
import type { ChatTraits } from '../protocols/upstream-traits.ts';

/** What a host that only says that it is compatible may be trusted with. */
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

/** `chat` traits of the base that a host has otherwise. */
export interface ChatQuirks extends Partial<Omit<ChatTraits, 'efforts'>> {
  /** The efforts of its reasoning models by the model's name there, the first match counts; a model without a row takes all. */
  readonly effortsOf?: ReadonlyArray<readonly [model: RegExp, efforts: readonly string[]]>;
}

/**
 * The traits of a host for one of its models. `reasons` null: nobody knows. Only a model that is known to reason is told how
 * much: others answer 400 to the member (Groq, Mistral, Ollama, DeepSeek).
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
    // Wire reference C.2. Whether one takes `stop` cannot be told from its name, so that none is asked to:
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

/** `major.minor` of a GPT name as a number that grows with it (5.6 → 506); null: no such name. */
function gptVersion(model: string): number | null {
  const found = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0);
}

/** Breakpoints came with gpt-5.6. Source: wire reference A.2. */
function takesCacheMarks(model: string): boolean {
  return (gptVersion(model) ?? 0) >= 506;
}

/** Which efforts came with which generation; null: not a reasoning model by its name, or one of unknown age. */
function openAiEfforts(model: string): readonly string[] | null {
  if (/^o\d/.test(model)) return ['low', 'medium', 'high'];
  const version = gptVersion(model);
  if (version === null || version < 500) return null;
  if (version === 500) return ['minimal', 'low', 'medium', 'high'];
  if (version === 501) return ['none', 'low', 'medium', 'high'];
  if (version < 506) return ['none', 'low', 'medium', 'high', 'xhigh'];
  return ['none', 'low', 'medium', 'high', 'xhigh', 'max'];
}
