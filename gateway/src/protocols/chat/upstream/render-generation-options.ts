/** Renders reasoning effort, output format and OpenAI's own options (end user, service tier, verbosity, web search). */
import type { GenerationRequest, ReasoningRequest } from '../../../generation/request.ts';
import { RawJson } from '../../../wire/json-writer.ts';
import { callerWord, type Draft, modelWord } from '../../openai/render-context.ts';
import { renderCaller, renderSchema } from '../../openai/render-options.ts';
import { isStrictSchema } from '../../openai/strict-schema.ts';
import { nearestEffort, requestedEffort } from '../../request/reasoning-effort.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import type { ChatTraits } from '../../upstream-traits.ts';
import { fitPlainSchema } from './plain-schema.ts';
import type { RenderContext } from './render-context.ts';

/**
 * `reasoning_effort` and the provider's switch, or nothing if the request leaves it to the model. Wire reference C.5;
 * provider reference, G.
 */
export function renderReasoning(context: RenderContext): Draft {
  const { request, traits } = context;
  const off = renderOffWhereForced(context);
  if (off !== null) return off;
  if (request.reasoning === null) return {};
  const word = callerWord(context, 'reasoning');
  const requested = requestedEffort(request.reasoning);
  if (traits.takes.reasoning === false) {
    if (requested !== 'none') context.notes.drop(word, `${modelWord(context)} does not reason`);
    return {};
  }
  const { efforts } = traits.chat;
  const flipped = traits.takes.reasoning === true ? renderSwitch(request.reasoning, traits.chat) : null;
  if (requested === null) return flipped ?? {};
  const sent = efforts === null ? requested : nearestEffort(requested, efforts);
  if (flipped !== null && requested === 'none') return flipped;
  if (flipped !== null && sent === null) {
    const isLost = request.reasoning.effort !== null;
    if (isLost) context.notes.drop(word, `${modelWord(context)} can only be told whether to reason`);
    return flipped;
  }
  if (sent === null) {
    context.notes.drop(word, `${modelWord(context)} cannot be told how much to reason`);
    return {};
  }
  const isNamed = request.reasoning.mode === 'off' || request.reasoning.effort === requested;
  if (sent !== requested && isNamed) {
    context.notes.drop(word, `${modelWord(context)} has no effort ${requested}; ${sent} is the nearest`);
  }
  return { ...flipped, reasoning_effort: sent };
}

/** Reasoning is turned off where the model refuses to be forced while it reasons, as it does by default; else null. */
function renderOffWhereForced(context: RenderContext): Draft | null {
  const { request, traits } = context;
  if (traits.chat.forcedWhileReasoning || traits.takes.reasoning !== true || !isForced(request)) return null;
  const off = renderSwitch({ mode: 'off', budgetTokens: null }, traits.chat);
  if (off !== null && request.reasoning !== null && requestedEffort(request.reasoning) !== 'none') {
    const why = `${modelWord(context)} cannot be forced to call a tool while it reasons; it was told not to reason`;
    context.notes.drop(callerWord(context, 'reasoning'), why);
  }
  return off;
}

function isForced({ tools, tool_choice }: GenerationRequest): boolean {
  const mode = tool_choice?.kind === 'allowed' ? tool_choice.mode : tool_choice?.kind;
  return tools.length > 0 && (mode === 'required' || mode === 'tool');
}

/** The member that turns reasoning on or off; null: the provider has none. */
function renderSwitch(
  { mode, budgetTokens }: Pick<ReasoningRequest, 'mode' | 'budgetTokens'>,
  { thinkingSwitch }: ChatTraits,
): Draft | null {
  const isOn = mode !== 'off';
  switch (thinkingSwitch) {
    case 'type':
      return { thinking: { type: isOn ? 'enabled' : 'disabled' } };
    case 'enable':
      return { enable_thinking: isOn, thinking_budget: isOn ? (budgetTokens ?? undefined) : undefined };
    case 'none':
      return null;
  }
}

export function renderOutputFormat(context: RenderContext): Draft {
  const format = context.request.output_format;
  if (format === null) return {};
  if (format.kind === 'json') return { response_format: { type: 'json_object' } };
  const word = callerWord(context, 'output_format');
  const json_schema = {
    ...renderSchema(format, context),
    schema: new RawJson(fitPlainSchema(format.schema, `${word}.schema`, context)),
    strict: renderStrict(format, word, context),
  };
  return { response_format: { type: 'json_schema', json_schema } };
}

/** `strict` null, from another format, means "as strictly as the provider can". */
function renderStrict(
  { schema, strict }: { readonly schema: string; readonly strict: boolean | null },
  word: string,
  context: RenderContext,
): boolean | undefined {
  const canBe = context.traits.chat.strictSchemas;
  if (strict === false) return canBe ? false : undefined;
  if (canBe && isStrictSchema(schema)) return true;
  if (strict) context.notes.drop(`${word}.strict`, `${modelWord(context)} cannot promise to keep this schema`);
  return undefined;
}

/** OpenAI's own members. */
export function renderOpenaiMembers(context: RenderContext): Draft {
  const { request, traits } = context;
  if (traits.chat.openaiMembers) {
    const verbosity = request.verbosity ?? undefined;
    return { ...renderCaller(request), verbosity, web_search_options: renderWebSearch(context) };
  }
  if (request.web_search !== null) {
    throw refuseMember(callerWord(context, 'web_search'), `${modelWord(context)} cannot search the web; leave it out`);
  }
  for (const feature of ['end_user', 'service_tier', 'verbosity'] as const) {
    const requested = request[feature];
    if (requested === null || (feature === 'service_tier' && requested === 'auto')) continue;
    context.notes.drop(callerWord(context, feature), `the host of ${modelWord(context)} does not take it`);
  }
  return {};
}

function renderWebSearch({ request }: RenderContext): Draft | undefined {
  const search = request.web_search;
  if (search === null) return undefined;
  const { location } = search;
  return {
    search_context_size: search.context_size ?? undefined,
    user_location: location === null ? undefined : { type: 'approximate', approximate: new RawJson(location) },
  };
}
