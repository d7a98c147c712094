/** Test helpers: build inputs for the chat request parser and renderer and read their results. */
import { CallFailure } from '../../../errors/call-failure.ts';
import { type Part, textPart } from '../../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../../generation/request.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import type { ChatTraits, UpstreamTraits } from '../../upstream-traits.ts';
import { parseRequest } from '../client/parse-request.ts';
import { renderRequest } from '../upstream/render-request.ts';

export const HELLO = [{ role: 'user', content: 'hello' }];

/** An upstream that accepts everything. */
export const CAPABLE: UpstreamTraits = {
  provider: 'lab',
  model: 'upstream-model',
  inputTokensMax: null,
  outputTokensMax: null,
  takes: { image: null, pdf: null, audio: null, tools: null, structured_output: null, reasoning: null },
  chat: {
    outputLimitMember: 'max_completion_tokens',
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
    reasoningInHistory: 'reasoning_content',
    nullContent: true,
    openaiMembers: true,
    parallelToolCalls: true,
    strictSchemas: true,
    usageOption: true,
  },
  messages: {
    sampling: true,
    samplingPair: true,
    thinking: null,
    effort: null,
    effortMaxWhenDisabled: null,
    forcedToolChoice: true,
    systemTurns: true,
    firstParty: true,
  },
};

/** `CAPABLE` with these traits changed. */
export function upstream(chat: Partial<ChatTraits>, rest: Partial<UpstreamTraits> = {}): UpstreamTraits {
  return { ...CAPABLE, ...rest, chat: { ...CAPABLE.chat, ...chat } };
}

/** A canonical request that says hello, with these members changed. */
export function requestOf(members: Partial<GenerationRequest>): GenerationRequest {
  return {
    model: 'house-model',
    stream: false,
    turns: [userTurn(textPart('hello'))],
    tools: [],
    tool_choice: null,
    parallel_tool_calls: null,
    outputTokensMax: null,
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
    ...members,
  };
}

export function turn(role: Turn['role'], parts: readonly Part[], index = 0): Turn {
  return { role, name: null, parts, path: `messages.${index}` };
}

export function userTurn(...parts: readonly Part[]): Turn {
  return turn('user', parts);
}

export function assistantTurn(...parts: readonly Part[]): Turn {
  return turn('assistant', parts);
}

export function callOf(id: string, name = 'weather', json = '{}'): Part {
  return { kind: 'tool_call', id, name, tool: 'function', arguments: json, cache_mark: null };
}

type ResultParts = Extract<Part, { kind: 'tool_result' }>['parts'];

export function resultOf(call_id: string, ...parts: ResultParts): Part {
  return { kind: 'tool_result', call_id, parts, is_error: false, cache_mark: null };
}

/** Parses a body given as text or as an object; adds `model` and `messages` to an object that lacks them. */
export function parse(body: string | object, strict = false) {
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'house-model', messages: HELLO, ...body });
  const outline = scanJson(Buffer.from(text));
  if (!outline.ok) throw new Error(outline.message);
  const notes = startTranslationNotes(strict);
  return { request: parseRequest(outline, notes), dropped: notes.dropped };
}

/** The rendered request, as text and parsed again, and the dropped members. */
export function render(request: GenerationRequest, traits = CAPABLE, strict = false) {
  const notes = startTranslationNotes(strict);
  const rendered: RenderedRequest = renderRequest(request, traits, notes);
  return { ...rendered, body: JSON.parse(rendered.json), dropped: notes.dropped };
}

/** The messages rendered from turns. */
export function messagesOf(turns: readonly Turn[], traits = CAPABLE) {
  return render(requestOf({ turns }), traits).body.messages;
}

/** The member and message of a refusal. Throws if nothing was refused. */
export function refusalOf(act: () => unknown): { readonly param: string | undefined; readonly message: string } {
  try {
    act();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return { param: error.details.param, message: error.message };
  }
  throw new Error('nothing was refused');
}
