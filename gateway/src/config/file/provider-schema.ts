/** Defines the schema of a provider in the configuration file, with the secrets and settings of every kind. */
import { z } from 'zod';
import { PRESETS } from '../../providers/presets/presets.ts';
import type { ProviderKind, SecretMember, SettingMember } from '../../providers/provider.ts';
import { KINDS } from '../../providers/registry.ts';
import { SHORT_NAME, WEIGHT_MAX } from '../config.ts';
import {
  baseUrl,
  choice,
  credential,
  credentialText,
  duration,
  modelName,
  plainText,
  shortName,
  wholeNumber,
} from './scalar-schema.ts';

/** The presets that `preset` may name; the others have their own kind. */
const NAMED_PRESETS = PRESETS.filter(({ kind }) => kind.takes.includes('preset'));

const SETTING_CHARACTERS_MAX = 256;
const STATE_CHARACTERS_MAX = 1024;

const timeout = (description: string) => duration('10ms', '24h').meta({ description }).optional();

export const timeoutsSchema = z.strictObject({
  connect: timeout('Connecting.'),
  first_byte: timeout('First byte of a stream.'),
  first_byte_plain: timeout('First byte of a plain answer.'),
  idle: timeout('Silence within an answer.'),
  total: timeout('The whole request.'),
});

const entryMembers = {
  name: shortName.meta({ description: 'A name of your choice, for records, metrics and the console.' }),
  weight: wholeNumber(0, WEIGHT_MAX)
    .meta({ description: 'Its share of new conversations. 0: only when no other can be used.', default: 1 })
    .optional(),
  organisation: plainText('the name of an organization', 100)
    .meta({
      description:
        'The organization that it belongs to at the provider. Credentials of one organization share limits, prompt caches and signatures of reasoning; several organizations add up. Default: one for all credentials without it.',
    })
    .optional(),
  models: z
    .array(modelName)
    .min(1)
    .meta({ description: 'The models at the provider that it may be used for. Default: all.' })
    .optional(),
};

/** One of several keys. */
const apiKeySchema = z.strictObject({
  ...entryMembers,
  key: credential.meta({ description: 'The key, preferably from a variable.' }),
});

/** Secrets by the names of all kinds. */
type SecretMembers = { [name: string]: ReturnType<typeof secretSchema> };

function secretSchema({ document }: SecretMember, description: string) {
  return (document === true ? credentialText : credential).meta({ description }).optional();
}

/** A member by the kinds that have it, with its descriptions in one; kinds that describe it alike are named together. */
function describeMembers<Member extends SecretMember | SettingMember>(
  kinds: readonly ProviderKind[],
  membersOf: (kind: ProviderKind) => readonly Member[],
) {
  const rows = kinds.flatMap((kind) => membersOf(kind).map((member) => ({ kind: kind.name, member })));
  const byName = Map.groupBy(rows, ({ member }) => member.name);
  return [...byName].flatMap(([name, [first, ...others]]) => {
    if (first === undefined) return [];
    const said = Map.groupBy([first, ...others], ({ member }) => member.description);
    const each = [...said].map(([text, of]) => `${of.map(({ kind }) => `\`${kind}\``).join(', ')}: ${text}`);
    return [{ name, member: first.member, description: said.size === 1 ? first.member.description : each.join(' ') }];
  });
}

/** A provider of one of these kinds. It has the secrets and settings of all; a kind refuses those of the others. */
export function createProviderSchema(kinds: readonly ProviderKind[]) {
  const secrets: SecretMembers = Object.fromEntries(
    describeMembers(kinds, (kind) => kind.secrets).map(({ name, member, description }) => [
      name,
      secretSchema(member, description),
    ]),
  );
  return z.strictObject({
    ...providerMembers(kinds),
    ...secrets,
    api_keys: z
      .array(apiKeySchema)
      .min(1)
      .meta({
        description:
          'Several keys instead of `api_key`. A conversation stays with its key; a new one gets a key with more of its rate limits left.',
      })
      .optional(),
    credentials: z
      .union([credentialText, z.strictObject(secrets), z.array(z.strictObject({ ...entryMembers, ...secrets })).min(1)])
      .meta({ description: describeCredentials(kinds) })
      .optional(),
    ...Object.fromEntries(
      describeMembers(kinds, (kind) => kind.settings).map(({ name, member, description }) => [
        name,
        plainText(member.expected, SETTING_CHARACTERS_MAX).meta({ description }).optional(),
      ]),
    ),
    shared_state: z
      .array(
        z.strictObject({
          id: plainText('an id or an address', STATE_CHARACTERS_MAX).meta({
            description: 'The id or the address (`gs://…`). With `*` at its end: all that begin so.',
          }),
          workspaces: z
            .array(shortName)
            .min(1)
            .meta({ description: 'The workspaces that may use it. Default: all.' })
            .optional(),
        }),
      )
      .min(1)
      .meta({
        description:
          'What of your account at the provider requests may name: files, vector stores, prompts, connectors, buckets. Anything else is refused, unless a request of the same workspace made it.',
      })
      .optional(),
    timeouts: timeoutsSchema
      .meta({
        description: 'Time limits of requests to it. Default: those of `limits` (`connect_timeout` and so on).',
      })
      .optional(),
  });
}

const providerMembers = (kinds: readonly ProviderKind[]) => ({
  kind: choice(kinds.map(({ name }) => name)).meta({ description: `Its format. ${describeKinds(kinds)}.` }),
  preset: choice(NAMED_PRESETS.map(({ name }) => name))
    .meta({
      description:
        'A known provider of the kind `openai-compatible` or `anthropic-compatible`: sets its address and its quirks.',
    })
    .optional(),
  base_url: baseUrl.meta({ description: 'Its address. Needed without a preset that has one.' }).optional(),
});

function describeCredentials(kinds: readonly ProviderKind[]): string {
  const texts = kinds.flatMap(({ name, sources = [], secrets }) => {
    const document = secrets.find((one) => one.document === true);
    const words = [
      ...sources.map(({ word, description }) => `\`${word}\` (${description})`),
      ...(document === undefined ? [] : [`the text of \`${document.name}\` alone`]),
    ];
    return words.length === 0 ? [] : [` With \`${name}\` also ${words.join(', or ')}.`];
  });
  return `The secrets of its kind in one mapping, or a list of such mappings, each with a \`name\`.${texts.join('')}`;
}

function describeKinds(kinds: readonly ProviderKind[]): string {
  const phrases = [...new Set(kinds.map(({ speaks }) => speaks))];
  return phrases
    .map(
      (phrase) =>
        `${kinds
          .filter(({ speaks }) => speaks === phrase)
          .map(({ name }) => `\`${name}\``)
          .join(' and ')}: ${phrase}`,
    )
    .join('; ');
}

export const providerSchema = createProviderSchema(KINDS);

export const providerName = z.string().regex(SHORT_NAME, 'a provider name of 1 to 64 letters, digits, `.`, `_` or `-`');

export type ProviderShape = z.output<typeof providerSchema>;
export type TimeoutsShape = z.output<typeof timeoutsSchema>;
