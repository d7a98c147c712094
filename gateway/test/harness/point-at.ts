/** Renders the configuration of a gateway whose upstreams are one fake upstream. */

interface Pointing {
  /** Public model names; each maps to the model of the same name at the fake upstream. */
  readonly chat?: readonly string[];
  readonly messages?: readonly string[];
  /** Public name → name at the fake upstream, chat side. */
  readonly renamed?: Readonly<Record<string, string>>;
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
  };
  const providers: Record<string, object> = { ...kinds };
  const add = (kind: keyof typeof kinds, name: string) => {
    const provider = pointing.apart === true ? `${kind}-${name.replace(/[^\w.-]/g, '-')}` : kind;
    providers[provider] = kinds[kind];
    models[name] = { targets: [{ provider }], price: PRICE };
  };
  for (const name of pointing.chat ?? []) add('lab', name);
  for (const name of pointing.messages ?? []) add('lab-messages', name);
  for (const [name, model] of Object.entries(pointing.renamed ?? {})) {
    models[name] = { targets: [{ provider: 'lab', model }], price: PRICE };
  }
  return {
    ...(pointing.server === undefined ? {} : { server: pointing.server }),
    ...(pointing.limits === undefined ? {} : { limits: pointing.limits }),
    ...(pointing.routing === undefined ? {} : { defaults: { routing: pointing.routing } }),
    providers,
    models,
  };
}
