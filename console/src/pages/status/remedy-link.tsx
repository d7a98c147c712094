/** Renders the link to the page that mends what failed a request. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { readSearch } from '../../route/address.ts';
import { Link } from '../../route/link.tsx';
import { buttonClasses } from '../../ui/button.tsx';

type Explanation = NonNullable<Reply<'GET /accounts/{account}/logs/{request}'>['explanation']>;

export function RemedyLink({ remedy }: { readonly remedy: NonNullable<Explanation['remedy']> }) {
  const { pathname, search } = new URL(remedy.page, location.origin);
  return (
    <Link to={pathname} search={readSearch(search)} className={buttonClasses()}>
      {remedy.label}
    </Link>
  );
}
