/**
 * Tells by a model's name at Bedrock who made it, and what models of that vendor take. Converse itself takes everything
 * for all of them, and the model then refuses. Source: provider reference C.3, and as dated below.
 */

/** The region of an inference profile, before the vendor and the model. */
const PROFILE = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|mx|uk|il|me|global)\.(?=[^.]*\.)/;

/** The id of an inference profile, not its ARN. */
export function isProfile(model: string): boolean {
  return PROFILE.test(model);
}

/** Without the prefix of an inference profile; of an ARN, the id at its end. */
export function bareId(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).replace(PROFILE, '');
}

/** The first label of a model's bare id; null: an address that names no model. */
export function vendorOf(model: string): string | null {
  const id = bareId(model);
  return id.includes('.') ? id.slice(0, id.indexOf('.')) : null;
}

/** What the models of a vendor take. */
export interface VendorTraits {
  /** How they are asked to reason; null: they cannot be asked. */
  readonly reasoning: 'thinking' | 'reasoning_effort' | 'reasoning' | 'nova' | null;
  /** Members of `inferenceConfig` that they refuse. */
  readonly refuses: ReadonlySet<'temperature' | 'topP' | 'stopSequences'>;
  /** The path of `top_k` in the vendor's own fields; null: they take none. */
  readonly topK: readonly string[] | null;
  /** They accept cache points, and for how long, and after tools. */
  readonly caches: { readonly hour: boolean; readonly tools: boolean } | null;
  /** Ids of calls are nine letters and digits. */
  readonly shortIds: boolean;
  /** They keep the answer to a schema of `outputConfig`. */
  readonly schemas: boolean;
}

const NOTHING: ReadonlySet<never> = new Set();

const PLAIN: VendorTraits = {
  reasoning: null,
  refuses: NOTHING,
  topK: null,
  caches: null,
  shortIds: false,
  schemas: false,
};

/** Open models whose answers Bedrock holds to a schema: AWS's user guide, structured outputs (2026-11-22). */
const OPEN: VendorTraits = { ...PLAIN, schemas: true };

/** An unknown address is taken for Anthropic's: the only vendor whose history has to go back signed. */
export function vendorTraits(model: string): VendorTraits {
  switch (vendorOf(model)) {
    case null:
    case 'anthropic':
      return {
        ...PLAIN,
        reasoning: 'thinking',
        topK: ['top_k'],
        caches: { hour: true, tools: true },
        // Since Claude 4.5, with whose names the order of family and version changed.
        schemas: /claude-(?!3|v|instant)[a-z]+-(?!4-(?:[01]\b|\d{8}))/.test(model),
      };
    case 'amazon':
      return {
        ...PLAIN,
        reasoning: /nova-[2-9]/.test(model) ? 'nova' : null,
        topK: ['inferenceConfig', 'topK'],
        // https://github.com/NousResearch/hermes-agent/issues/97281 (2026-08-28).
        caches: model.includes('nova') ? { hour: false, tools: false } : null,
      };
    case 'openai':
      return model.includes('gpt-oss')
        ? { ...OPEN, reasoning: 'reasoning_effort', refuses: new Set(['stopSequences']) }
        : { ...OPEN, reasoning: 'reasoning', refuses: new Set(['temperature', 'topP', 'stopSequences']) };
    case 'mistral':
      return { ...OPEN, topK: ['top_k'], shortIds: true };
    case 'qwen':
    case 'deepseek':
    case 'google':
    case 'minimax':
    case 'moonshot':
    case 'moonshotai':
    case 'nvidia':
    case 'zai':
      return OPEN;
    default:
      return PLAIN;
  }
}
