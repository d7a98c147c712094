/** Formats the actor of an audit entry. */
import type { AuditEntry } from './audit-changes.ts';

export function actorWords({ kind, name, id }: AuditEntry['actor']): string {
  switch (kind) {
    case 'person':
      return name;
    case 'key':
      return `${name} (key ${id})`;
    case 'command_line':
      return 'command line';
    case 'anonymous':
      return 'Not signed in';
  }
}
