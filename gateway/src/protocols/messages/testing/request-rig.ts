/** Builds canonical requests, renders them and parses bodies, for the request tests of this format. */
import { CallFailure } from '../../../errors/call-failure.ts';
import { textPart } from '../../../generation/part.ts';
import type { GenerationRequest } from '../../../generation/request.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import type { MessagesTraits, UpstreamTraits } from '../../upstream-traits.ts';
import { parseRequest } from '../client/parse-request.ts';
import { renderRequest } from '../upstream/render-request.ts';

const CHAT_TRAITS: UpstreamTraits['chat'] = {
  outputLimitMember: 'max_tokens',
  systemRole: 'system',
  sampling: true,
  top_k: true,
  efforts: null,
  stopMax: 4,
  toolIds: 'any',
  mediaInToolMessages: true,
  files: true,
  prefill: 'plain',
  cacheMarks: true,
  reasoningInHistory: null,
  nullContent: true,
  openaiMembers: true,
  parallelToolCalls: true,
  strictSchemas: true,
  usageOption: true,
};

/** A model that supports everything. */
export const CAPABLE: UpstreamTraits = {
  provider: 'anthropic',
  model: 'claude-up',
  inputTokensMax: null,
  outputTokensMax: null,
  takes: { image: true, pdf: true, audio: null, tools: true, structured_output: true, reasoning: true },
  chat: CHAT_TRAITS,
  messages: {
    sampling: true,
    samplingPair: true,
    thinking: ['adaptive', 'enabled', 'between_tools', 'disabled'],
    effort: ['low', 'medium', 'high', 'xhigh', 'max'],
    effortMaxWhenDisabled: null,
    forcedToolChoice: true,
    systemTurns: true,
    firstParty: true,
  },
};

export function withTraits(
  messages: Partial<MessagesTraits>,
  takes: Partial<UpstreamTraits['takes']> = {},
  rest: Partial<Pick<UpstreamTraits, 'outputTokensMax'>> = {},
): UpstreamTraits {
  return { ...CAPABLE, ...rest, messages: { ...CAPABLE.messages, ...messages }, takes: { ...CAPABLE.takes, ...takes } };
}

/** A request with the user message `hi`, with a test's changes. */
export function requestWith(changes: Partial<GenerationRequest>): GenerationRequest {
  return {
    model: 'm',
    stream: false,
    turns: [{ role: 'user', name: null, parts: [textPart('hi')], path: 'messages.0' }],
    tools: [],
    tool_choice: null,
    parallel_tool_calls: null,
    outputTokensMax: 4000,
    stop: [],
    temperature: null,
    top_p: null,
    top_k: null,
    frequency_penalty: null,
    presence_penalty: null,
    seed: null,
    reasoning: null,
    output_format: null,
    verbosity: null,
    end_user: null,
    service_tier: null,
    cache_mark: null,
    web_search: null,
    named: {},
    ...changes,
  };
}

/** The rendered request, its body as text and as a value, and what was dropped. */
export function render(request: GenerationRequest, traits: UpstreamTraits = CAPABLE, strict = false) {
  const notes = startTranslationNotes(strict);
  const rendered = renderRequest(request, traits, notes);
  return { ...rendered, body: JSON.parse(rendered.json), dropped: notes.dropped };
}

/** Parses a body, given as a value or as JSON text, into a canonical request. */
export function parse(body: unknown, strict = false) {
  const notes = startTranslationNotes(strict);
  const outline = scanJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  if (!outline.ok) throw new Error(outline.message);
  return { request: parseRequest(outline, notes), dropped: notes.dropped };
}

/** The param and the message of the refusal; null if the request is accepted. */
export function refusal(act: () => unknown): { readonly param: string | undefined; readonly message: string } | null {
  try {
    act();
    return null;
  } catch (error) {
    if (!(error instanceof CallFailure) || error.kind !== 'invalid_request') throw error;
    return { param: error.details.param, message: error.message };
  }
}
