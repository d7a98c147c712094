/** Lists what rules of the checks `secrets` and `personal_data` find, as people see it. A matcher of each is beside it. */

export interface Detector {
  /** As rules store it. */
  readonly name: string;
  readonly check: 'secrets' | 'personal_data';
  readonly title: string;
  readonly description: string;
  /** A text that it finds; no real secret. */
  readonly sample: string;
  /** The word in its masks: `[EMAIL_1f3a9c02]`. */
  readonly label: string;
}

/** Samples are put together here, so that no file has a whole one, which scanners of repositories would report. */
const fake = (prefix: string, body: string) => `${prefix}${body}`;

const LETTERS = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY';

export const DETECTORS = [
  {
    name: 'private_key',
    check: 'secrets',
    title: 'Private keys',
    description: 'Private keys in PEM form.',
    sample: fake('-----BEGIN PRIVATE KEY-----', '\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----'),
    label: 'PRIVATE_KEY',
  },
  {
    name: 'model_provider_key',
    check: 'secrets',
    title: 'API keys of model providers',
    description: 'Keys of OpenAI, Anthropic, OpenRouter, Groq, xAI, Perplexity, Replicate and Hugging Face.',
    sample: fake('sk-', `proj-${LETTERS}`),
    label: 'API_KEY',
  },
  {
    name: 'tollgate_key',
    check: 'secrets',
    title: 'API keys of this gateway',
    description: 'Keys that begin with tg_.',
    sample: fake('tg_', `${LETTERS}${LETTERS.slice(0, 11)}`),
    label: 'API_KEY',
  },
  {
    name: 'aws_access_key',
    check: 'secrets',
    title: 'AWS access key IDs',
    description: 'Access key IDs of AWS. Secret access keys have no form of their own and are not found.',
    sample: fake('AKIA', 'IOSFODNN7EXAMPLE'),
    label: 'AWS_KEY',
  },
  {
    name: 'google_key',
    check: 'secrets',
    title: 'Google API keys',
    description: 'API keys, client secrets and access tokens of Google.',
    sample: fake('AIza', `Sy${LETTERS}0`),
    label: 'GOOGLE_KEY',
  },
  {
    name: 'azure_storage_key',
    check: 'secrets',
    title: 'Azure storage keys',
    description: 'Account keys in connection strings of Azure Storage.',
    sample: fake('AccountKey=', `${LETTERS}${LETTERS}${LETTERS.slice(0, 22)}==`),
    label: 'AZURE_KEY',
  },
  {
    name: 'github_token',
    check: 'secrets',
    title: 'GitHub tokens',
    description: 'Personal, OAuth and app tokens of GitHub.',
    sample: fake('ghp_', `${LETTERS}aB3d`),
    label: 'GITHUB_TOKEN',
  },
  {
    name: 'gitlab_token',
    check: 'secrets',
    title: 'GitLab tokens',
    description: 'Personal, project and deploy tokens of GitLab.',
    sample: fake('glpat-', LETTERS.slice(0, 20)),
    label: 'GITLAB_TOKEN',
  },
  {
    name: 'slack_token',
    check: 'secrets',
    title: 'Slack tokens',
    description: 'Bot, user and app tokens of Slack, and addresses of its webhooks.',
    sample: fake('xoxb-', `123456789012-${LETTERS.slice(0, 24)}`),
    label: 'SLACK_TOKEN',
  },
  {
    name: 'stripe_key',
    check: 'secrets',
    title: 'Stripe keys',
    description: 'Secret and restricted keys of Stripe, and signing secrets of its webhooks.',
    sample: fake('sk_live_', LETTERS.slice(0, 24)),
    label: 'STRIPE_KEY',
  },
  {
    name: 'package_token',
    check: 'secrets',
    title: 'Tokens of package registries',
    description: 'Tokens of npm and PyPI.',
    sample: fake('npm_', `${LETTERS}aB3d`),
    label: 'PACKAGE_TOKEN',
  },
  {
    name: 'sendgrid_key',
    check: 'secrets',
    title: 'SendGrid keys',
    description: 'API keys of SendGrid.',
    sample: fake('SG.', `${LETTERS.slice(0, 22)}.${LETTERS}${LETTERS.slice(0, 11)}`),
    label: 'SENDGRID_KEY',
  },
  {
    name: 'jwt',
    check: 'secrets',
    title: 'JSON Web Tokens',
    description: 'Signed tokens of three parts (RFC 7519).',
    sample: fake('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N'),
    label: 'JWT',
  },
  {
    name: 'database_password',
    check: 'secrets',
    title: 'Passwords in database addresses',
    description: 'Addresses such as postgres://user:password@host.',
    sample: fake('postgres://', 'app:hunter2secret@db.example.com'),
    label: 'DATABASE_URL',
  },
  {
    name: 'email',
    check: 'personal_data',
    title: 'E-mail addresses',
    description: 'Addresses with a domain, such as ada@example.com.',
    sample: 'ada@example.com',
    label: 'EMAIL',
  },
  {
    name: 'phone',
    check: 'personal_data',
    title: 'Phone numbers',
    description: 'International numbers that begin with +, and North American numbers such as (415) 555-0132.',
    sample: '+1 415 555 0132',
    label: 'PHONE',
  },
  {
    name: 'credit_card',
    check: 'personal_data',
    title: 'Payment card numbers',
    description: 'Numbers of 13 to 19 digits with a valid check digit, also with spaces or hyphens.',
    sample: '4111 1111 1111 1111',
    label: 'CARD',
  },
  {
    name: 'iban',
    check: 'personal_data',
    title: 'IBANs',
    description: 'International bank account numbers with a valid checksum.',
    sample: 'DE89 3704 0044 0532 0130 00',
    label: 'IBAN',
  },
  {
    name: 'ip_address',
    check: 'personal_data',
    title: 'IP addresses',
    description: 'Addresses of IP version 4 and 6, except those of the local host and unspecified ones.',
    sample: '203.0.113.7',
    label: 'IP',
  },
  {
    name: 'us_ssn',
    check: 'personal_data',
    title: 'US social security numbers',
    description: 'Numbers of the form 123-45-6789 that can be issued.',
    sample: '123-45-6789',
    label: 'SSN',
  },
] as const satisfies readonly Detector[];

export type DetectorName = (typeof DETECTORS)[number]['name'];

const LABELS: ReadonlyMap<string, string> = new Map(DETECTORS.map(({ name, label }) => [name, label]));

export function labelOf(name: DetectorName): string {
  return LABELS.get(name) as string;
}
