/** Names the party that signs a target's reasoning and keeps its files: only the same party accepts them again. */
import type { Upstream } from '../../providers/provider.ts';
import { familyOf } from '../../tokens/token-families.ts';

/**
 * The issuer of what `upstream.credentials[credential]` returns: the vendor of the model, and the organisation as the
 * provider knows it. An operator declares two providers one issuer by giving their credentials the same `organisation`.
 */
export function issuerOf(upstream: Upstream, credential: number): string {
  const known = issuers.get(upstream) ?? upstream.credentials.map((one) => nameOf(upstream, one.organisation));
  issuers.set(upstream, known);
  return known[credential] ?? nameOf(upstream, null);
}

/** Whether one of the upstream's credentials belongs to the issuer. */
export function hasIssuer(upstream: Upstream, issuer: string): boolean {
  return upstream.credentials.some((_, index) => issuerOf(upstream, index) === issuer);
}

const issuers = new WeakMap<Upstream, readonly string[]>();

function nameOf({ provider, model }: Upstream, organisation: string | null): string {
  return `${vendorOf(model)} ${organisation ?? provider}`;
}

/** Models of one vendor read each other's signatures, whatever their tokenizer. */
function vendorOf(model: string): string {
  const [vendor = ''] = familyOf(model).split('_');
  return vendor;
}
