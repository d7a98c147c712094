/**
 * Determines what a target's model and provider accept, for rendering translated requests: from the catalog, the kind
 * of provider, and its deviations.
 */
import { type Capabilities, NO_CAPABILITIES } from '../config/config.ts';
import type { ServedTarget } from '../config/served-models.ts';
import {
  type ConverseTraits,
  type MessagesTraits,
  NO_CONVERSE_SETTINGS,
  type UpstreamTraits,
} from '../protocols/upstream-traits.ts';
import type { Provider } from '../providers/provider.ts';
import { findHosted } from '../providers/quirks.ts';

/** The catalog's facts about a model that translations need. */
export interface ModelFacts {
  readonly inputTokensMax: number | null;
  readonly outputTokensMax: number | null;
  readonly modalities: readonly string[];
  readonly capabilities: readonly string[];
  readonly gates: {
    readonly sampling: boolean;
    readonly thinking: readonly string[];
    readonly effort: readonly string[];
    readonly effortMaxWhenDisabled: string | null;
    readonly forcedToolChoice: boolean;
  } | null;
}

/** For an unknown model at a messages provider: everything may be sent, except turns that only newer models accept. */
const UNKNOWN_GATES: MessagesTraits = {
  sampling: true,
  samplingPair: true,
  thinking: null,
  effort: null,
  effortMaxWhenDisabled: null,
  forcedToolChoice: true,
  systemTurns: false,
  firstParty: false,
  mediaUrls: true,
};

/**
 * Whether the model reasons; null: neither the file nor the catalog says. `facts` null: the catalog does not know the
 * model.
 */
export function reasons(facts: ModelFacts | null, { reasoning }: Capabilities): boolean | null {
  return reasoning ?? facts?.capabilities.includes('reasoning') ?? null;
}

/** The traits of one target. `facts` null: the catalog does not know the model. `says`: the file's capabilities. */
export function traitsOf(
  { provider, model }: Pick<ServedTarget, 'provider' | 'model'>,
  facts: ModelFacts | null,
  says: Capabilities = NO_CAPABILITIES,
): UpstreamTraits {
  const chat = provider.kind.chatTraits(provider.quirks.chat, model, reasons(facts, says));
  const firstParty = isFirstParty(provider);
  const refuses = findHosted(provider, model)?.refuses ?? [];
  const gates = { ...UNKNOWN_GATES, ...facts?.gates };
  return {
    provider: provider.name,
    model,
    inputTokensMax: facts?.inputTokensMax ?? null,
    outputTokensMax: facts?.outputTokensMax ?? null,
    takes: {
      image: says.image ?? known(facts?.modalities, 'image'),
      pdf: says.pdf ?? known(facts?.modalities, 'pdf'),
      audio: says.audio ?? known(facts?.modalities, 'audio'),
      // If the catalog does not list a capability, no source reports it: never a reason to refuse.
      tools: says.tools ?? listed(facts?.capabilities, 'tools'),
      // Providers that imitate Anthropic's format support tools, but seldom its schemas: they get a tool instead.
      structured_output:
        says.structured_output ??
        (refuses.includes('structured_output') ? false : null) ??
        listed(facts?.capabilities, 'structured_output') ??
        (firstParty === false ? false : null),
      reasoning: says.reasoning ?? listed(facts?.capabilities, 'reasoning'),
    },
    chat: {
      ...chat,
      outputLimitMember: says.output_limit ?? chat.outputLimitMember,
      sampling: says.sampling ?? chat.sampling,
      efforts: says.reasoning_effort ?? chat.efforts,
      parallelToolCalls: says.parallel_tool_calls ?? chat.parallelToolCalls,
      strictSchemas: says.strict_schemas ?? chat.strictSchemas,
    },
    messages: {
      ...gates,
      sampling: says.sampling ?? gates.sampling,
      thinking: says.thinking ?? gates.thinking,
      effort: says.reasoning_effort ?? gates.effort,
      forcedToolChoice: says.forced_tool_choice ?? gates.forcedToolChoice,
      // The families with known gates start with Claude 4.1, the first that refuses the two together:
      // https://github.com/open-webui/pipelines/pull/546 (2025-08-08), for 4.6
      // https://github.com/Vali-98/ChatterUI/issues/564.
      samplingPair: says.temperature_with_top_p ?? (facts?.gates ?? null) === null,
      firstParty: firstParty === true,
      mediaUrls: !refuses.includes('media_urls'),
    },
    gemini: { platform: provider.kind.geminiPlatform ?? 'ai_studio' },
    converse: converseTraitsOf(provider),
  };
}

function converseTraitsOf(provider: Provider): ConverseTraits {
  if (provider.baseUrl === null) return NO_CONVERSE_SETTINGS;
  return provider.kind.converseTraits?.(provider.settings) ?? NO_CONVERSE_SETTINGS;
}

/**
 * Whether the provider is the vendor's own host, or one that imitates it: those do not run its server tools. Null: the
 * kind has no vendor.
 */
function isFirstParty({ kind, baseUrl }: Provider): boolean | null {
  if (baseUrl === null || kind.vendorHost === null) return null;
  const { hostname } = new URL(baseUrl);
  return hostname === kind.vendorHost || hostname.endsWith(`.${kind.vendorHost}`);
}

function known(names: readonly string[] | undefined, name: string): boolean | null {
  return names === undefined ? null : names.includes(name);
}

function listed(names: readonly string[] | undefined, name: string): boolean | null {
  return names?.includes(name) ? true : null;
}
