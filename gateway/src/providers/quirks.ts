/** Defines how a provider deviates from the format that it speaks, as data. */
import type { UpstreamProtocolName } from '../protocols/names.ts';
import type { ChatTraits } from '../protocols/upstream-traits.ts';

/** A provider's deviations from the format. */
export interface ProviderQuirks {
  /**
   * How a chat stream reports usage. `on_request`: by `stream_options.include_usage`. `always`: without a request, and the
   * provider refuses that member.
   */
  readonly streamUsage: 'on_request' | 'always';
  /**
   * Which responses of its reasoning models cost tokens that do not appear in the stream, so that only the final usage
   * reports them: none, those whose request asks for reasoning, or all.
   */
  readonly hiddenReasoning: 'never' | 'on_request' | 'always';
  /** Formats that it speaks besides those of its kind. */
  readonly alsoSpeaks?: readonly UpstreamProtocolName[];
  /** It keeps responses and their items under the account for later requests. */
  readonly keepsState?: true;
  /** Its generating models answer legacy completions too. */
  readonly completes?: true;
  /** Its generating models that also transcribe. */
  readonly transcribes?: RegExp;
  /** Its own form of a format that is not translated, which it speaks instead. */
  readonly forms?: readonly UpstreamProtocolName[];
  /** It may answer with another model than the requested one, which its answers name: that one is charged. */
  readonly answersAsOther?: true;
  /** What else it accepts or refuses in translated requests. */
  readonly chat: ChatQuirks;
}

/** The `chat` traits in which a provider differs from its kind. */
export interface ChatQuirks extends Partial<Omit<ChatTraits, 'efforts'>> {
  /** The models without the switch of `thinkingSwitch`. */
  readonly withoutSwitch?: RegExp;
  /**
   * The efforts of its reasoning models by the model's name at the provider; the first match wins, and a model without
   * a row accepts all.
   */
  readonly effortsOf?: ReadonlyArray<readonly [model: RegExp, efforts: readonly string[]]>;
}

export const NO_QUIRKS: ProviderQuirks = { streamUsage: 'on_request', hiddenReasoning: 'never', chat: {} };

/** A model's name in the catalogue. */
interface CatalogName {
  readonly provider: string;
  readonly model: string;
}

/** A vendor's model where another company hosts it. */
export interface HostedModel {
  /** The vendor's name for it in the catalogue, whose facts hold here; its prices do not. */
  readonly catalog: CatalogName;
  /** The name under which the catalogue may have its price here; null: it depends on more than the name and settings. */
  readonly priced: CatalogName | null;
  /** What the vendor takes and this host does not: output schemas, and media by their addresses. */
  readonly refuses: ReadonlyArray<'structured_output' | 'media_urls'>;
}

/** Whose model a provider hosts under that name; null: it hosts none of others, or it is not known. */
export function findHosted({ kind, settings = {} }: Host, model: string): HostedModel | null {
  return kind.hostedModel?.(model, settings) ?? null;
}

/** The part of a provider that knows: one inside the gateway has no settings. */
interface Host {
  readonly settings?: { readonly [name: string]: string };
  readonly kind: {
    hostedModel?(model: string, settings: { readonly [name: string]: string }): HostedModel | null;
  };
}
