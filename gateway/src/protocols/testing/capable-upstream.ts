/** Defines the traits of an upstream that accepts everything its format has, and variations of it. */
import { type ChatTraits, type MessagesTraits, NO_CONVERSE_SETTINGS, type UpstreamTraits } from '../upstream-traits.ts';

export const CAPABLE: UpstreamTraits = {
  provider: 'lab',
  model: 'upstream-model',
  inputTokensMax: null,
  outputTokensMax: null,
  takes: { image: true, pdf: true, audio: true, tools: true, structured_output: true, reasoning: true },
  chat: {
    outputLimitMember: 'max_completion_tokens',
    systemRole: 'system',
    strictTurns: false,
    answersResults: false,
    sampling: true,
    top_k: true,
    efforts: null,
    thinkingSwitch: 'none',
    forcedWhileReasoning: true,
    thinkTags: false,
    stopMax: 4,
    toolIds: 'any',
    mediaInToolMessages: true,
    files: true,
    prefill: 'plain',
    cacheMarks: true,
    reasoningInHistory: 'reasoning_content',
    unreasonedRefused: 'none',
    nullContent: true,
    openaiMembers: true,
    parallelToolCalls: true,
    namedToolChoice: true,
    strictSchemas: true,
    plainSchemas: false,
    usageOption: true,
  },
  messages: {
    sampling: true,
    samplingPair: true,
    thinking: ['adaptive', 'enabled', 'between_tools', 'disabled'],
    effort: ['low', 'medium', 'high', 'xhigh', 'max'],
    effortMaxWhenDisabled: null,
    forcedToolChoice: true,
    systemTurns: true,
    firstParty: true,
    mediaUrls: true,
  },
  gemini: { platform: 'ai_studio' },
  converse: NO_CONVERSE_SETTINGS,
};

/** `CAPABLE` as a chat provider, with these traits changed. */
export function withChatTraits(chat: Partial<ChatTraits>, rest: Partial<UpstreamTraits> = {}): UpstreamTraits {
  return { ...CAPABLE, ...rest, chat: { ...CAPABLE.chat, ...chat } };
}

/** `CAPABLE` as a messages provider, with these traits changed. */
export function withMessagesTraits(
  messages: Partial<MessagesTraits>,
  takes: Partial<UpstreamTraits['takes']> = {},
  rest: Partial<UpstreamTraits> = {},
): UpstreamTraits {
  return { ...CAPABLE, ...rest, messages: { ...CAPABLE.messages, ...messages }, takes: { ...CAPABLE.takes, ...takes } };
}
