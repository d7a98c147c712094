/** Defines the schema of a model in the configuration file: its names, its targets and the choice among them. */
import { z } from 'zod';
import { formatNanoUsd } from '../../billing/money.ts';
import { CLIENT_PROTOCOL_NAMES } from '../../protocols/names.ts';
import { AFFINITIES, DEFAULT_ROUTING, FALLBACK_CLASSES, ROUTING_STRATEGIES, WEIGHT_MAX } from '../config.ts';
import { priceSchema } from './price-schema.ts';
import { timeoutsSchema } from './provider-schema.ts';
import { choice, modelName, plainText, shortName, tag, usdAmount, wholeNumber } from './scalar-schema.ts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const THINKING = ['adaptive', 'enabled', 'between_tools', 'disabled'] as const;

const flag = (description: string) => choice(['true', 'false']).meta({ description }).optional();

/** The shape of `capabilities` of a model. */
const capabilitySchema = z.strictObject({
  reasoning: flag('Reasons. `false`: no reasoning members are sent.'),
  reasoning_effort: z
    .array(choice(EFFORTS))
    .meta({ description: 'Supported efforts; the nearest one is sent. An empty list: none.' })
    .optional(),
  thinking: z
    .array(choice(THINKING))
    .meta({ description: 'Supported values of `thinking.type`, at a provider of the messages format.' })
    .optional(),
  sampling: flag('Supports `temperature` and `top_p`.'),
  temperature_with_top_p: flag('Supports `temperature` and `top_p` together, at a provider of the messages format.'),
  tools: flag('Supports tools.'),
  forced_tool_choice: flag('Supports a tool choice that forces a call, at a provider of the messages format.'),
  parallel_tool_calls: flag('Supports `parallel_tool_calls`.'),
  structured_output: flag('Supports output by a JSON Schema.'),
  strict_schemas: flag('Supports `strict` in tools and formats.'),
  image: flag('Supports images.'),
  pdf: flag('Supports PDF files.'),
  audio: flag('Supports audio.'),
  output_limit: choice(['max_tokens', 'max_completion_tokens'])
    .meta({ description: 'The member for the maximum of output tokens, at a provider of the chat format.' })
    .optional(),
});

export type CapabilityShape = z.output<typeof capabilitySchema>;

const defaultRetryUsd = formatNanoUsd(DEFAULT_ROUTING.uncertainRetry);

/** How a model chooses among its targets. */
export const routingSchema = z.strictObject({
  strategy: choice(ROUTING_STRATEGIES)
    .meta({
      description:
        'The order of the targets of one priority. `order`: as written; `weight`: by their shares; `latency`: the faster of two at random; `price`: mostly the cheapest for the request. Default: `weight` where a target has a weight, else `order`.',
    })
    .optional(),
  affinity: choice(AFFINITIES)
    .meta({
      description:
        'What keeps a conversation at the target and key that answered it last, so that the prompt cache stays warm. `session`: the session that the client names, else the start of the prompt; `prefix`: the start of the prompt; `off`: nothing.',
      default: DEFAULT_ROUTING.affinity,
    })
    .optional(),
  max_extra_attempts: wholeNumber(0, 10)
    .meta({ description: 'Attempts after the first one failed.', default: DEFAULT_ROUTING.maxExtraAttempts })
    .optional(),
  uncertain_retry: usdAmount(1_000)
    .meta({
      description:
        'USD per request: an attempt that the provider may have billed (a timeout, a broken connection) is followed by another while the estimated cost of such attempts stays within it. 0: never.',
      default: defaultRetryUsd,
    })
    .optional(),
  hedge: choice(['off', 'on'])
    .meta({
      description:
        'Whether a late first attempt gets a second one at another target, at most 5% of the requests; the first answer wins, and the operator pays for the other.',
      default: DEFAULT_ROUTING.hedge ? 'on' : 'off',
    })
    .optional(),
  fallback_on: z
    .array(choice(FALLBACK_CLASSES))
    .meta({
      description:
        'Refusals of a request that another target may still answer. `overflow`: too long for the model; `policy`: refused by a content policy. Failures of a provider always fall back.',
      default: DEFAULT_ROUTING.fallbackOn,
    })
    .optional(),
});

export type RoutingShape = z.output<typeof routingSchema>;

const targetSchema = z.strictObject({
  provider: plainText('the name of a provider', 64).meta({ description: 'A name under `providers`.' }),
  model: modelName.meta({ description: "The model's name there; default: its public name." }).optional(),
  name: shortName
    .meta({ description: 'A name of your choice, for records, metrics and the console. Default: provider/model.' })
    .optional(),
  priority: wholeNumber(1, 100)
    .meta({ description: 'Targets of a lower number are tried first.', default: 1 })
    .optional(),
  weight: wholeNumber(0, WEIGHT_MAX)
    .meta({
      description:
        'Its share of the requests among the targets of its priority; default 1 where another target has one. 0: only as a fallback.',
    })
    .optional(),
  max_concurrency: wholeNumber(1, 100_000)
    .meta({
      description:
        'Requests at once; further ones wait up to 2s, then go to the next target. Default: 8 for the preset `ollama`, otherwise any number.',
    })
    .optional(),
  tags: z
    .array(tag)
    .meta({
      description: 'What it promises about data, such as `eu`. A key, a workspace or a request can require tags.',
      default: [],
    })
    .optional(),
  timeouts: timeoutsSchema
    .meta({ description: 'As `timeouts` of a provider, whose values are the default.' })
    .optional(),
  price: priceSchema.optional().meta({ description: 'As `price` of the model, which is the default.' }),
});

const endpoints = z.array(choice(CLIENT_PROTOCOL_NAMES)).min(1);

const aliasSchema = z.union([
  modelName,
  z.strictObject({
    name: modelName.meta({ description: 'The name.' }),
    protocols: endpoints
      .meta({ description: 'The endpoints that serve the model by this name. Default: all of its endpoints.' })
      .optional(),
  }),
]);

export const modelSchema = z.strictObject({
  protocols: endpoints
    .meta({
      description:
        'The endpoints that serve it; of those for generated answers, requests are translated for a target of another format. By default the name of the model at its provider tells whether it generates, embeds, ranks or moderates.',
      default: CLIENT_PROTOCOL_NAMES,
    })
    .optional(),
  alias: z
    .array(aliasSchema)
    .meta({ description: 'Further public names, each for all or some endpoints of the model.', default: [] })
    .optional(),
  targets: z.array(targetSchema).min(1).meta({
    description: 'The providers that answer. By default the first one is used, and the others if it fails.',
  }),
  routing: routingSchema
    .meta({ description: 'As `defaults.routing`, whose values are the default: the choice among the targets.' })
    .optional(),
  capabilities: capabilitySchema
    .meta({
      description:
        'What the model supports, for translated requests, if the catalogue does not know it or is wrong. Default: the catalogue and the kind of provider. A model that is not known to reason is sent no reasoning members.',
    })
    .optional(),
  price: priceSchema.optional(),
});

export const publicModelName = z
  .string()
  .regex(
    /^(?!.*\$\{)[^\p{Cc}]{1,256}$/u,
    'a model name of 1 to 256 characters, without control characters or variables',
  );

export type ModelShape = z.output<typeof modelSchema>;
