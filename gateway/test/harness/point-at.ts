/** Renders the configuration of a gateway whose upstreams are one fake upstream. */

interface Pointing {
  /** Public model names; each maps to the model of the same name at the fake upstream. */
  readonly chat?: readonly string[];
  readonly messages?: readonly string[];
  readonly responses?: readonly string[];
  /** Public name → name at the fake upstream, chat side. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** The same, messages side. */
  readonly renamedMessages?: Readonly<Record<string, string>>;
  readonly limits?: object;
  readonly server?: object;
  readonly timeouts?: object;
  readonly apiKey?: string;
  /** Each model has a provider of its own, whose name ends in the model's: a refused credential affects no other. */
  readonly apart?: true;
  /** The defaults of all models. */
  readonly routing?: object;
}

const PRICE = { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5, reasoning: 5 };

/** One price for all models: 1 USD per million input tokens, 5 per million output tokens. */
export function pointAt(fakeUrl: string, pointing: Pointing): object {
  const shared = {
    api_key: pointing.apiKey ?? 'none',
    ...(pointing.timeouts === undefined ? {} : { timeouts: pointing.timeouts }),
  };
  const models: Record<string, object> = {};
  const kinds = {
    lab: { kind: 'openai-compatible', base_url: `${fakeUrl}/v1`, ...shared },
    'lab-messages': { kind: 'anthropic', base_url: `${fakeUrl}/v1`, ...shared },
    'lab-responses': { kind: 'openai', base_url: `${fakeUrl}/v1`, ...shared },
  };
  const providers: Record<string, object> = { lab: kinds.lab, 'lab-messages': kinds['lab-messages'] };
  const add = (kind: keyof typeof kinds, name: string) => {
    const provider = pointing.apart === true ? `${kind}-${name.replace(/[^\w.-]/g, '-')}` : kind;
    providers[provider] = kinds[kind];
    models[name] = { targets: [{ provider }], price: PRICE };
  };
  for (const name of pointing.chat ?? []) add('lab', name);
  for (const name of pointing.messages ?? []) add('lab-messages', name);
  for (const name of pointing.responses ?? []) add('lab-responses', name);
  const rename = (provider: keyof typeof kinds, names: Readonly<Record<string, string>> = {}) => {
    for (const [name, model] of Object.entries(names)) models[name] = { targets: [{ provider, model }], price: PRICE };
  };
  rename('lab', pointing.renamed);
  rename('lab-messages', pointing.renamedMessages);
  return {
    ...(pointing.server === undefined ? {} : { server: pointing.server }),
    ...(pointing.limits === undefined ? {} : { limits: pointing.limits }),
    ...(pointing.routing === undefined ? {} : { defaults: { routing: pointing.routing } }),
    providers,
    models,
  };
}
