/** Compares the names of models that a provider gives in its answers with those that were requested. */
import { findModel } from '../../catalog/catalog.ts';
import type { Target } from '../../routing/route.ts';

const DATE = /^[-@](?:20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2})$/;

/** Whether both names mean the same model to upstream: upstreams answer with dated names. */
export function isSameModel({ catalog }: Pick<Target, 'catalog'>, reported: string, name: string): boolean {
  if (reported === name || (reported.startsWith(name) && DATE.test(reported.slice(name.length)))) return true;
  const known = catalog === null ? null : findModel(catalog.provider, reported);
  return known !== null && catalog !== null && known === findModel(catalog.provider, name);
}
