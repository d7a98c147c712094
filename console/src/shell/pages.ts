/** Lists the pages: address, name, icon, shortcut, and required permission. */
import {
  Activity,
  Bell,
  Box,
  Cloud,
  CreditCard,
  Eye,
  FlaskConical,
  Folder,
  Gauge,
  House,
  KeyRound,
  type LucideIcon,
  MessageSquare,
  Scale,
  Settings2,
  ShieldCheck,
  Table2,
  Users,
} from 'lucide-react';
import type { Permission } from '../lib/session.ts';

export interface PageEntry {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** Pressed after `g`. */
  readonly key: string;
  readonly needs: Permission;
}

/** Grouped as in the navigation. */
export const PAGE_GROUPS: readonly (readonly PageEntry[])[] = [
  [
    { path: '/app', name: 'Home', icon: House, key: 'h', needs: 'usage.read' },
    { path: '/app/usage', name: 'Usage', icon: Activity, key: 'u', needs: 'usage.read' },
    { path: '/app/logs', name: 'Logs', icon: Table2, key: 'l', needs: 'logs.read' },
    { path: '/app/sessions', name: 'Sessions', icon: MessageSquare, key: 'n', needs: 'logs.read' },
    { path: '/app/alerts', name: 'Alerts', icon: Bell, key: 't', needs: 'alerts.read' },
  ],
  [
    { path: '/app/keys', name: 'API keys', icon: KeyRound, key: 'k', needs: 'keys.read' },
    { path: '/app/limits', name: 'Limits', icon: Gauge, key: 'i', needs: 'limits.read' },
    { path: '/app/guardrails', name: 'Guardrails', icon: ShieldCheck, key: 'd', needs: 'guardrails.read' },
    { path: '/app/models', name: 'Models', icon: Box, key: 'm', needs: 'models.read' },
    { path: '/app/playground', name: 'Playground', icon: FlaskConical, key: 'y', needs: 'models.read' },
  ],
  [
    { path: '/app/providers', name: 'Providers', icon: Cloud, key: 'p', needs: 'operator.read' },
    { path: '/app/workspaces', name: 'Workspaces', icon: Folder, key: 'w', needs: 'workspaces.read' },
    { path: '/app/members', name: 'Members', icon: Users, key: 'e', needs: 'members.read' },
    { path: '/app/billing', name: 'Billing', icon: CreditCard, key: 'b', needs: 'billing.read' },
    { path: '/app/reconciliation', name: 'Reconciliation', icon: Scale, key: 'r', needs: 'operator.read' },
    { path: '/app/audit', name: 'Audit log', icon: Eye, key: 'a', needs: 'audit.read' },
    { path: '/app/settings', name: 'Settings', icon: Settings2, key: 's', needs: 'settings.read' },
  ],
];

/** The page at or above an address; every address is below the home page's. */
export function pageAt(pathname: string): PageEntry | undefined {
  return PAGE_GROUPS.flat().find(({ path }) => isAt(pathname, path));
}

/** Whether an address equals a page's path or is below it. */
export function isAt(pathname: string, path: string): boolean {
  return pathname === path || (path !== '/app' && pathname.startsWith(`${path}/`));
}

/** The pages that the user may open. */
export function permittedPages(may: (permission: Permission) => boolean): readonly (readonly PageEntry[])[] {
  return PAGE_GROUPS.map((group) => group.filter(({ needs }) => may(needs))).filter((group) => group.length > 0);
}
