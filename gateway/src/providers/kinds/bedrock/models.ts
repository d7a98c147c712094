/**
 * Tells by a model's id at Bedrock which services have it, and in which format. Mantle serves bare ids
 * (`anthropic.claude-opus-4-8`); versions (`-v1:0`), inference profiles (`us.…`) and ARNs belong to the runtime service.
 * Source: AWS's user guide, endpoints (2026-11-22).
 */
import { bareId, isProfile } from '../../../protocols/converse/shared/vendors.ts';
import type { UpstreamProtocolName } from '../../../protocols/names.ts';
import type { Settings } from '../../provider.ts';
import type { HostedModel } from '../../quirks.ts';

export type DoorName = 'mantle' | 'runtime';

/**
 * Claude's facts in the catalogue. InvokeModel refuses output schemas for most of its newer models, and media by their
 * addresses (provider reference C.2); Mantle may send a request there. The price of an inference profile is that of its
 * geography; those of other ids depend on the region, and a tier or latency has its own.
 */
export function hostedModel(model: string, settings: Settings): HostedModel | null {
  if (!isClaude(model)) return null;
  const name = bareId(model)
    .slice('anthropic.'.length)
    .replace(/(?:-\d{8})?(?:-v\d+(?::.*)?)?$/, '');
  const refuses = isBare(model) ? (['structured_output'] as const) : (['structured_output', 'media_urls'] as const);
  const isListed = isProfile(model) && settings.service_tier === undefined && settings.latency === undefined;
  const priced = isListed ? { provider: 'bedrock', model } : null;
  return { catalog: { provider: 'anthropic', model: name }, priced, refuses };
}

/** An ARN that ends in no model's id may be anything; Converse takes all. */
function isClaude(model: string): boolean {
  return bareId(model).startsWith('anthropic.claude');
}

function isBare(model: string): boolean {
  return !model.includes(':') && !isProfile(model);
}

/** Settings that only requests to the runtime service have a place for. */
export const RUNTIME_SETTINGS = ['guardrail_id', 'service_tier', 'latency', 'fips'] as const;

function needsRuntime(settings: Settings): boolean {
  return settings.region?.startsWith('cn-') === true || RUNTIME_SETTINGS.some((name) => settings[name] !== undefined);
}

/** The services to try for a model, in order. */
export function doorsFor(model: string, settings: Settings): readonly [DoorName, ...DoorName[]] {
  if (settings.door === 'mantle') return ['mantle'];
  if (settings.door === 'runtime' || needsRuntime(settings) || !isBare(model)) return ['runtime'];
  return ['mantle', 'runtime'];
}

/**
 * The services to ask for a count of tokens, in order. Mantle counts the newer models of Claude, which the runtime service
 * has as inference profiles only: AWS's user guide, count tokens (2026-11-23).
 */
export function countersFor(model: string, settings: Settings): readonly [DoorName, ...DoorName[]] {
  const doors = doorsFor(model, settings);
  const others = doorsFor(bareId(model), settings).filter((name) => !doors.includes(name));
  return [...doors, ...others];
}

/** Whether the runtime service has the model in OpenAI's format. */
export function hasChatAtRuntime(model: string): boolean {
  return bareId(model).startsWith('openai.');
}

/** Claude's own format, OpenAI's where the first service has it, else Converse. */
export function protocolsFor(model: string, settings: Settings): readonly [UpstreamProtocolName] {
  if (isClaude(model)) return ['messages'];
  const [first] = doorsFor(model, settings);
  const speaksChat = first === 'mantle' || hasChatAtRuntime(model);
  return [speaksChat ? 'chat' : 'converse'];
}

/** Models that Mantle has below `/openai/v1`, as read in AI SDK 5.0.101; the others are below `/v1`. */
const BELOW_OPENAI = /^(?:openai\.gpt-(?!oss)|google\.gemma-4|xai\.)/;

/** The path before `/chat/completions` at Mantle. */
export function openaiPathAtMantle(model: string): string {
  return BELOW_OPENAI.test(bareId(model)) ? '/openai/v1' : '/v1';
}
