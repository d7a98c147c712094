/**
 * Owns the shape of what the catalogue knows of one model: names, limits, capabilities, price. Holds no facts itself and
 * does not know where they are kept.
 */
import type { Price } from '../billing/price.ts';

/** Hosts whose models the catalogue knows; a configured provider is matched to one of these names by its kind or preset. */
export const CATALOG_PROVIDERS = [
  'alibaba',
  'anthropic',
  'cerebras',
  'deepseek',
  'fireworks',
  'google',
  'groq',
  'mistral',
  'moonshot',
  'openai',
  'perplexity',
  'together',
  'xai',
  'zai',
] as const;

export const MODALITIES = ['text', 'image', 'pdf', 'audio'] as const;

/** A capability that a model does not list is one that no source reports; upstream may have it. */
export const CAPABILITIES = ['tools', 'parallel_tools', 'structured_output', 'reasoning', 'prompt_cache'] as const;

/**
 * What upstream charges beside what `price` covers, so that a bill made from its usage alone is below the
 * upstream's: fees per search that no answer counts, cache writes kept 12 hours, citations.
 */
export const FEES_BESIDE = ['search', 'citations', 'cache_write_12h'] as const;

export const THINKING_TYPES = ['adaptive', 'enabled', 'disabled', 'between_tools'] as const;
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export type CatalogProvider = (typeof CATALOG_PROVIDERS)[number];
export type Modality = (typeof MODALITIES)[number];
export type Capability = (typeof CAPABILITIES)[number];
export type FeeBeside = (typeof FEES_BESIDE)[number];
export type ThinkingType = (typeof THINKING_TYPES)[number];
export type Effort = (typeof EFFORTS)[number];

/** Which otherwise legal members of a messages request this model refuses. */
export interface MessagesGates {
  /** Accepts `temperature`, `top_p`, `top_k`. */
  readonly sampling: boolean;
  /** Accepted values of `thinking.type`; `enabled` is the one with a budget. */
  readonly thinking: readonly ThinkingType[];
  /** Accepted values of `output_config.effort`; empty: the member is refused. */
  readonly effort: readonly Effort[];
  /** The highest effort that may stand beside `thinking: disabled`; null: any. */
  readonly effortMaxWhenDisabled: Effort | null;
  /** Accepts `tool_choice` of type `any` or `tool`. */
  readonly forcedToolChoice: boolean;
}

export interface CatalogModel {
  readonly provider: CatalogProvider;
  /** The name that the provider's own API takes. */
  readonly id: string;
  /** Dated names of the same model at the same price; the provider's API takes them too. */
  readonly aliases: readonly string[];
  /** Display name; null: no source gives one. */
  readonly name: string | null;
  /** ISO dates; null: no source gives one. */
  readonly released: string | null;
  readonly shutdown: string | null;
  readonly inputTokensMax: number | null;
  readonly outputTokensMax: number | null;
  readonly modalities: readonly Modality[];
  readonly capabilities: readonly Capability[];
  /** With its long-context tiers and its fees per request. */
  readonly price: Price;
  readonly feesBeside: readonly FeeBeside[];
  /** Only for models that are spoken to over messages and whose gates are known. */
  readonly gates: MessagesGates | null;
}

export interface Catalog {
  /** The day of the snapshot, ISO. */
  readonly version: string;
  readonly models: readonly CatalogModel[];
}
