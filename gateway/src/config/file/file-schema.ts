/**
 * Defines the schema of the configuration file: every member this version accepts, with its description. Rules between
 * members are in resolve-*.ts.
 */
import { z } from 'zod';
import { BODY_POLICIES, HOLD_MODES } from '../../store/ports/records.ts';
import {
  DEFAULT_BROKEN_ANSWERS,
  DEFAULT_CONSOLE,
  DEFAULT_HOLDS,
  DEFAULT_HOST,
  DEFAULT_LOG_BODIES,
  DEFAULT_PORT,
  DEFAULT_PUBLIC_STATUS,
  DEFAULT_RETENTION_DAYS,
  DEFAULT_STORE_RESPONSES,
  DEFAULT_UNPRICED,
  DEFAULT_WEBSOCKET,
} from '../config.ts';
import { LIMITS, type LimitName } from '../limits.ts';
import { modelSchema, publicModelName, routingSchema } from './model-schema.ts';
import { providerName, providerSchema } from './provider-schema.ts';
import {
  addressRange,
  baseUrl,
  byteSize,
  choice,
  credential,
  directHost,
  domainName,
  duration,
  listenHost,
  listenPort,
  mailAddress,
  mailHost,
  oidcId,
  plainText,
  proxyUrl,
  wholeDays,
  wholeNumber,
} from './scalar-schema.ts';
import { telemetrySchema } from './telemetry-schema.ts';

const oidcSchema = z.strictObject({
  id: oidcId.meta({ description: 'A name of your choice: part of the redirect address.' }),
  name: plainText('the label of the button', 60).meta({ description: 'The label of its button on the sign-in page.' }),
  issuer: baseUrl.meta({ description: 'Its address, which must serve `/.well-known/openid-configuration`.' }),
  client_id: plainText('the client id of this gateway', 256).meta({
    description: 'The client id of this gateway.',
  }),
  client_secret: credential.meta({
    description: 'The client secret, preferably from a variable. `none`: a public client.',
  }),
  allowed_domains: z
    .array(domainName)
    .min(1)
    .meta({ description: 'Domains of email addresses that it may verify. Default: all.' })
    .optional(),
});

const egressProxySchema = z.strictObject({
  url: proxyUrl.meta({ description: 'Its address, such as `http://proxy.example:3128`.' }),
  credentials: credential
    .meta({ description: '`user:password` for it, preferably from a variable. `none`: it asks for none.' })
    .optional(),
  no_proxy: z
    .array(directHost)
    .meta({
      description:
        'Hosts that are connected to directly: `*`, a name with all names below it, `.example.com` for the names below it only, an address, a range; each but `*` and a range may have a port.',
      default: [],
    })
    .optional(),
});

const smtpSchema = z.strictObject({
  host: mailHost.meta({ description: 'Its name or address.' }),
  port: wholeNumber(1, 65_535)
    .meta({ description: 'Default: 587 with `starttls`, 465 with `tls`, 25 with `none`.' })
    .optional(),
  encryption: choice(['starttls', 'tls', 'none'])
    .meta({
      description:
        '`starttls`: the connection is encrypted before anything is sent, or fails; `tls`: from its first byte; `none`: for a relay on this machine or network, without a password. The certificate must be valid for the host.',
      default: 'starttls',
    })
    .optional(),
  user: plainText('a user name', 256).meta({ description: 'The user name, with `password`.' }).optional(),
  password: credential.meta({ description: 'The password, preferably from a variable.' }).optional(),
  from: mailAddress.meta({ description: 'The sender of all messages.' }),
});

const serverSchema = z.strictObject({
  host: listenHost.meta({ description: 'Host to listen on. HOST overrides it.', default: DEFAULT_HOST }).optional(),
  port: listenPort
    .meta({ description: 'Port to listen on; 0 selects a free one. PORT overrides it.', default: DEFAULT_PORT })
    .optional(),
  public_url: baseUrl
    .meta({
      description: 'The public address of the gateway: printed links begin with it, and passkeys belong to its host.',
    })
    .optional(),
  trusted_proxies: z
    .array(addressRange)
    .meta({ description: 'Address ranges of proxies whose forwarding headers are trusted.', default: [] })
    .optional(),
  private_origins: z
    .array(baseUrl)
    .meta({
      description:
        'Addresses (scheme, host and port) that are allowed for providers entered in the console although they are private or not https, such as `http://10.0.0.7:9100`. Providers of this file need no entry, unless their credential is found on this machine (`credentials: chain`).',
      default: [],
    })
    .optional(),
  tls: z
    .strictObject({
      cert: plainText('a path', 4_096).meta({ description: 'The certificate with its chain, PEM.' }),
      key: plainText('a path', 4_096).meta({ description: 'Its key, PEM, without a passphrase.' }),
    })
    .meta({
      description:
        'Serves HTTPS instead of HTTP, with this certificate. Changed files are served within ten seconds; an unusable pair changes nothing. Relative paths begin at the working folder. Default: HTTP.',
    })
    .optional(),
  egress_proxy: egressProxySchema
    .meta({
      description:
        'The HTTP proxy (CONNECT) for connections to https origins: providers and sign-in services. Default: `HTTPS_PROXY` and `NO_PROXY` of the environment. This machine and private networks are always connected to directly.',
    })
    .optional(),
  smtp: smtpSchema
    .meta({
      description:
        'The mail server that sends alerts, invitations and password links by email. Needs `public_url`, with which links begin. Default: no email is sent.',
    })
    .optional(),
  console: choice(['on', 'off'])
    .meta({
      description: 'Whether the console at `/app` and the documentation at `/docs` are served.',
      default: DEFAULT_CONSOLE,
    })
    .optional(),
  websocket: choice(['on', 'off'])
    .meta({
      description: 'Whether `/v1/responses` takes WebSockets. `off`: they get 426, on which clients use POST.',
      default: DEFAULT_WEBSOCKET,
    })
    .optional(),
  public_status: choice(['summary', 'full'])
    .meta({
      description:
        'What `/status` shows visitors who are not signed in. `summary`: whether the service works; `full`: also the state of each provider.',
      default: DEFAULT_PUBLIC_STATUS,
    })
    .optional(),
  oidc: z
    .array(oidcSchema)
    .meta({
      description:
        'Sign-in services for the console (OpenID Connect). Needs `public_url`. A user signs in with a service that created the user or was linked to them; a new user needs a pending invitation and an email address that the service has verified. Each sign-in needs an id_token.',
      default: [],
    })
    .optional(),
});

function limitSchema(name: LimitName) {
  const row = LIMITS[name];
  const most = 'most' in row ? row.most : undefined;
  const described = { description: row.meaning, default: row.unit === 'count' ? Number(row.default) : row.default };
  if (row.unit === 'bytes') return byteSize(row.least, '16GiB').meta(described).optional();
  if (row.unit === 'duration')
    return duration(row.least, most ?? '24h')
      .meta(described)
      .optional();
  return wholeNumber(Number(row.least), most === undefined ? undefined : Number(most))
    .meta(described)
    .optional();
}

const limitNames = Object.keys(LIMITS) as LimitName[];
const limitsSchema = z.strictObject(
  Object.fromEntries(limitNames.map((name) => [name, limitSchema(name)])) as {
    [Name in LimitName]: ReturnType<typeof limitSchema>;
  },
);

const defaultsSchema = z.strictObject({
  holds: choice(HOLD_MODES)
    .meta({
      description:
        'How much of a balance or a budget a request reserves while it runs, unless its key or account has a setting. `adaptive`: a stream reserves slice by slice; `strict`: every request reserves its maximum cost.',
      default: DEFAULT_HOLDS,
    })
    .optional(),
  unpriced: choice(['refuse', 'allow'])
    .meta({
      description:
        'Requests to a model without a price if a balance or a budget would have to pay. `allow`: they are served and not charged; the record has no cost, and the log says so.',
      default: DEFAULT_UNPRICED,
    })
    .optional(),
  broken_answers: choice(['bill', 'free'])
    .meta({
      description:
        'Who pays for an answer that broke off through no fault of the caller. `bill`: the account, for the input and the output that came; `free`: the operator.',
      default: DEFAULT_BROKEN_ANSWERS,
    })
    .optional(),
  store_responses: choice(['on', 'off'])
    .meta({
      description:
        'Whether responses of models that are reached through a translation are kept for 24 hours, encrypted, unless a request says `store: false` or its workspace stores no prompts. `previous_response_id` and references to items then work there too.',
      default: DEFAULT_STORE_RESPONSES,
    })
    .optional(),
  log_bodies: choice(BODY_POLICIES)
    .meta({
      description:
        'Requests whose prompts and responses are stored, encrypted and apart from the records, unless their workspace has a policy. `errors`: requests that failed.',
      default: DEFAULT_LOG_BODIES,
    })
    .optional(),
  retention: wholeDays(1, 3_650)
    .meta({
      description:
        'How long prompts and responses are stored, in whole days, unless the workspace has a policy. Records and ledger have no retention.',
      default: `${DEFAULT_RETENTION_DAYS}d`,
    })
    .optional(),
  routing: routingSchema
    .meta({ description: 'The choice among the targets of a model, unless the model has its own.' })
    .optional(),
});

/** The whole file. */
export const fileSchema = z.strictObject({
  server: serverSchema.meta({ description: 'How the gateway is reached.' }).optional(),
  limits: limitsSchema.meta({ description: 'Limits and timeouts.' }).optional(),
  defaults: defaultsSchema.meta({ description: 'Defaults for all requests.' }).optional(),
  telemetry: telemetrySchema.meta({ description: 'The log, and what is sent to OpenTelemetry.' }).optional(),
  providers: z
    .record(providerName, providerSchema)
    .meta({
      description: 'The providers, by names of your choice. Default: those whose credentials are in the environment.',
    })
    .optional(),
  models: z
    .record(publicModelName, modelSchema)
    .meta({
      description:
        'The models that are served, by their public names: the complete list. Default: all models of the providers that the catalogue knows.',
    })
    .optional(),
});

export type FileShape = z.output<typeof fileSchema>;

/** The parts of a schema node that its readers use. */
export interface SchemaNode {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  readonly items?: SchemaNode;
  readonly [member: string]: unknown;
}

/**
 * JSON Schema 2020-12 of the file. Wherever a single value is expected, an expression such as `${NAME}` is also
 * allowed.
 */
export function renderConfigSchema(): SchemaNode {
  const schema = z.toJSONSchema(fileSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // The converter drops the default of a transformed value; the docs page and editors need it.
      const fallback = z.globalRegistry.get(zodSchema)?.default;
      if (fallback !== undefined) jsonSchema.default = fallback as typeof jsonSchema.default;
    },
  });
  return { title: 'Tollgate configuration', ...schema } as SchemaNode;
}
