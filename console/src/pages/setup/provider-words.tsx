/** Describes the source of the first call's answers: the detected providers, or the built-in one. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

type SetupLink = Reply<'GET /setup/{token}'>;

export function ProviderWords({ link }: { readonly link: SetupLink }) {
  const found = link.providers.filter(({ kind }) => kind !== 'demo').map(({ name }) => name);
  if (found.length === 0) {
    return (
      <p>
        No provider is configured, so the built-in one answers: offline, free, and good enough to try everything. Add
        your own later on the Providers page.
      </p>
    );
  }
  return (
    <p>
      {found.length === 1 ? 'A provider was found' : `${found.length} providers were found`}:{' '}
      <span className="font-medium text-ink">{found.join(', ')}</span>. The call below is a real one and costs what{' '}
      <code>{link.model}</code> costs for a sentence.
    </p>
  );
}
