/** Describes the source of the first call's answers: the detected providers, or the built-in one. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

type SetupLink = Reply<'GET /setup/{token}'>;

export function ProviderWords({ link }: { readonly link: SetupLink }) {
  const found = link.providers.filter(({ kind }) => kind !== 'demo').map(({ name }) => name);
  if (found.length === 0) {
    return (
      <p>
        No provider is configured, so the built-in demo model responds, offline and free. Add your own provider later on
        the Providers page.
      </p>
    );
  }
  return (
    <p>
      {found.length === 1 ? 'Found a provider' : `Found ${found.length} providers`}:{' '}
      <span className="font-medium text-ink">{found.join(', ')}</span>. The test sends a short request to{' '}
      <code>{link.model}</code>, which is billed by the provider.
    </p>
  );
}
