import { Page } from '../../ui/page.tsx';

export default function NamedPage(_: { readonly session: unknown }) {
  return <Page title="sign-in">{null}</Page>;
}
