import { Page } from '../../ui/page.tsx';

export default function NamedPage() {
  return <Page title="audit">{null}</Page>;
}
