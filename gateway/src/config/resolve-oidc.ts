/** Owns the rules of the services that people sign in by. Speaks to none of them. */
import type { OidcConfig } from './config.ts';
import { quoteText } from './config-problem.ts';
import type { FileShape } from './file-schema.ts';
import type { Report } from './resolve-providers.ts';

/** The services of the file, in its order. A problem is reported, and its service left out. */
export function resolveOidc(shape: FileShape['server'], report: Report): readonly OidcConfig[] {
  const services: OidcConfig[] = [];
  for (const [index, given] of (shape?.oidc ?? []).entries()) {
    if (services.some(({ id }) => id === given.id)) {
      report(['server', 'oidc', index, 'id'], {
        found: `${quoteText(given.id)} a second time`,
        expected: 'an id of its own for each service',
        advice: 'Give it another id.',
      });
      continue;
    }
    services.push({
      id: given.id,
      name: given.name,
      issuer: given.issuer.url,
      clientId: given.client_id,
      clientSecret: given.client_secret,
      allowedDomains: given.allowed_domains?.map((domain) => domain.toLowerCase()) ?? null,
    });
  }
  if (services.length > 0 && shape?.public_url === undefined) {
    report(['server', 'oidc'], {
      found: 'services to sign in by, and no public_url',
      expected: 'public_url beside them: the services send people back to it',
      advice: 'Add public_url under server, and register its /app/api/sign-in/oidc/ID/callback at each service.',
    });
  }
  return services;
}
