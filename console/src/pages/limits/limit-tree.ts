/**
 * Builds the tree of an account's rules as table rows: account, workspaces, keys. End users and models are listed
 * separately.
 */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { CurrentAccount } from '../../lib/session.ts';

export type LimitNode = Reply<'GET /accounts/{account}/limits'>['nodes'][number];
type Kind = LimitNode['subject']['kind'];

export interface LimitRow {
  readonly node: LimitNode;
  /** 0 for the account. */
  readonly depth: number;
  readonly children: number;
}

/** Unique among subjects: an account, a workspace and a model may have the same id. */
export function subjectKey({ kind, id }: LimitNode['subject']): string {
  return `${kind} ${id}`;
}

export interface TreeFilter {
  /** Matched against names and ids. */
  readonly q: string;
  /** Only subjects with a rule, and their ancestors. */
  readonly ruledOnly: boolean;
  /** Subject keys whose children are collapsed; ignored while a filter is active. */
  readonly closed: ReadonlySet<string>;
}

/** Whether the user may set limits for subjects of this kind. */
export function maySet(kind: Kind, { may, workspaces }: Pick<CurrentAccount, 'may' | 'workspaces'>): boolean {
  if (kind === 'model') return may('limits.write') && may('operator.write');
  const isOfAll = kind === 'account' || kind === 'end_user';
  return may('limits.write') && !(isOfAll && workspaces !== null);
}

const BELOW: Readonly<Record<string, Kind>> = { account: 'workspace', workspace: 'key' };

export function treeRows(nodes: readonly LimitNode[], { q, ruledOnly, closed }: TreeFilter): readonly LimitRow[] {
  const word = q.trim().toLowerCase();
  const isFiltered = word !== '' || ruledOnly;
  const matches = (node: LimitNode) =>
    (!ruledOnly || hasRule(node)) && `${node.name} ${node.subject.id}`.toLowerCase().includes(word);
  const rows: LimitRow[] = [];
  const byParent = Map.groupBy(nodes, (node) => `${node.subject.kind} in ${node.parent}`);

  /** Returns whether the node or a descendant is shown. */
  function add(node: LimitNode, depth: number): boolean {
    const children = byParent.get(`${BELOW[node.subject.kind]} in ${node.subject.id}`) ?? [];
    const place = rows.length;
    rows.push({ node, depth, children: children.length });
    const isOpen = isFiltered || !closed.has(subjectKey(node.subject));
    const hasShown = isOpen ? children.map((child) => add(child, depth + 1)).some(Boolean) : false;
    const isShown = !isFiltered || matches(node) || hasShown;
    if (!isShown) rows.splice(place, 1);
    return isShown;
  }

  for (const node of nodes) if (node.subject.kind === 'account') add(node, 0);
  return rows;
}

/** The rules of end users, or of models. */
export function rulesOf(nodes: readonly LimitNode[], kind: 'end_user' | 'model'): readonly LimitNode[] {
  return nodes.filter(({ subject }) => subject.kind === kind);
}

/** All rules of the page's tables, including collapsed ones. */
export function allShown(nodes: readonly LimitNode[], filter: Omit<TreeFilter, 'closed'>): readonly LimitNode[] {
  const tree = treeRows(nodes, { ...filter, closed: new Set() }).map(({ node }) => node);
  return [...tree, ...rulesOf(nodes, 'end_user'), ...rulesOf(nodes, 'model')];
}

function hasRule({ caps, other_caps }: LimitNode): boolean {
  return [caps, other_caps].some(
    (layer) =>
      layer !== null && [layer.rpm, layer.tpm, layer.concurrency, layer.budget_usd].some((cap) => cap !== null),
  );
}
