/** Defines a model of the catalogue: names, limits, capabilities and price. */
import type { Price, PriceMember } from '../billing/price.ts';
import type { WrittenUnits } from '../billing/unit-prices.ts';

/**
 * Providers whose models the catalogue knows; a configured provider maps to one of these names by its kind or preset.
 * `bedrock`, `vertex` and `vertex-regional` (every location but `global`) have vendors' models at the prices of a cloud.
 */
export const CATALOG_PROVIDERS = [
  'alibaba',
  'anthropic',
  'bedrock',
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
  'vertex',
  'vertex-regional',
  'xai',
  'zai',
] as const;

export const MODALITIES = ['text', 'image', 'pdf', 'audio'] as const;

/** A model lists the capabilities that a source reports; upstream may support others. */
export const CAPABILITIES = ['tools', 'parallel_tools', 'structured_output', 'reasoning', 'prompt_cache'] as const;

/**
 * Charges of upstream that `price` does not cover, so that a bill computed from usage alone is below the upstream's:
 * fees per search that no response counts, 12-hour cache writes, citations.
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

/** Members of a messages request that are valid but refused by this model. */
export interface MessagesGates {
  /** Accepts `temperature`, `top_p`, `top_k`. */
  readonly sampling: boolean;
  /** Accepted values of `thinking.type`; `enabled` is the one with a budget. */
  readonly thinking: readonly ThinkingType[];
  /** Accepted values of `output_config.effort`; empty: the member is refused. */
  readonly effort: readonly Effort[];
  /** The highest effort accepted together with `thinking: disabled`; null: any. */
  readonly effortMaxWhenDisabled: Effort | null;
  /** Accepts `tool_choice` of type `any` or `tool`. */
  readonly forcedToolChoice: boolean;
}

export interface CatalogModel {
  readonly provider: CatalogProvider;
  /** The model's name in the provider's own API. */
  readonly id: string;
  /** Dated names of the same model at the same price, also accepted by the provider's API. */
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
  /** Includes long-context tiers and fees per request. */
  readonly price: Price;
  readonly feesBeside: readonly FeeBeside[];
  /** Only for models served through the messages API whose gates are known. */
  readonly gates: MessagesGates | null;
}

export interface Catalog {
  /** The date of the snapshot, ISO. */
  readonly version: string;
  readonly models: readonly CatalogModel[];
}

/** USD per million tokens as decimal text; `input` and `output` are required. */
export type SnapshotRates = { readonly [rate in PriceMember]?: string };

/** A model as the snapshot has it. Absent: unknown, or empty. */
export interface SnapshotModel {
  readonly provider: CatalogProvider;
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly name?: string;
  readonly released?: string;
  readonly shutdown?: string;
  readonly input_max?: number;
  readonly output_max?: number;
  readonly modalities: readonly Modality[];
  readonly capabilities: readonly Capability[];
  readonly price: SnapshotRates;
  readonly tiers?: ReadonlyArray<SnapshotRates & { readonly above: number }>;
  readonly per_1000_requests?: { readonly [kind: string]: string };
  /** USD per unit as decimal text. */
  readonly per_unit?: WrittenUnits;
  readonly fees_beside?: readonly FeeBeside[];
  readonly messages?: {
    readonly sampling: boolean;
    readonly thinking: readonly ThinkingType[];
    readonly effort: readonly Effort[];
    readonly effort_max_when_disabled?: Effort;
    readonly forced_tool_choice: boolean;
  };
}

export interface Snapshot {
  readonly version: string;
  readonly models: readonly SnapshotModel[];
}
