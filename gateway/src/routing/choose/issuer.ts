/** Names the party that signs a target's reasoning and keeps its files: only the same party accepts them again. */
import type { Upstream } from '../../providers/provider.ts';
import { familyOf } from '../../tokens/token-families.ts';

/**
 * The issuer of what `upstream.credentials[credential]` returns: the vendor of the model, and the organisation as the
 * provider knows it. An operator declares two providers one issuer by giving their credentials the same `organisation`.
 */
export function issuerOf({ provider, model, credentials }: Upstream, credential: number): string {
  return `${vendorOf(model)} ${credentials[credential]?.organisation ?? provider}`;
}

/** Models of one vendor read each other's signatures, whatever their tokenizer. */
function vendorOf(model: string): string {
  const [vendor = ''] = familyOf(model).split('_');
  return vendor;
}
