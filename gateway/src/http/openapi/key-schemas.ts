/** Owns the OpenAPI schemas of what a key is told about itself. */
import { count, flag, listOf, type OpenapiPart, orNull, refTo, shape, text, words } from './schema-parts.ts';

const time = (description: string): OpenapiPart => ({ type: 'string', format: 'date-time', description });
const amount = (description: string): OpenapiPart => {
  return { type: 'string', pattern: '^-?[0-9]+$', description: `${description} Integer nano-USD (10^-9 USD) as text.` };
};

export const KEY_SCHEMAS: OpenapiPart = {
  Key: shape(
    'The calling key: what it may do, and which limits bind each of its calls.',
    {
      object: { const: 'key' },
      id: text('Names the key; no secret.'),
      name: text('What its owner calls it.'),
      workspace: text('The workspace it belongs to.'),
      account: text('The account that pays.'),
      mode: words(['postpaid', 'prepaid'], 'Whether calls are paid from the balance.'),
      balance_nano_usd: orNull(amount('What a prepaid account can still spend.')),
      scopes: listOf(words(['inference', 'usage', 'admin'], 'One scope.'), 'What the key may be used for.'),
      models: orNull(listOf(text('A name; * stands for any run of characters.'), 'The models it may use.')),
      strict: flag('A call is refused for what a translation between the formats would drop.'),
      holds: words(
        ['adaptive', 'strict'],
        'Of a balance or a budget: a stream holds slice by slice, or every call its worst case.',
      ),
      expires_at: orNull(time('When the key ends.')),
      usage: orNull(
        shape(
          'What the key itself has used. Null: it could not be summed up in time; ask again.',
          { day: refTo('KeyUsage'), month: refTo('KeyUsage') },
          ['day', 'month'],
        ),
      ),
      limits: listOf(
        refTo('KeyLimit'),
        'Of the key, its workspace and its account; each of them binds. Those of models and end users are not told.',
      ),
    },
    [
      'object',
      'id',
      'name',
      'workspace',
      'account',
      'mode',
      'balance_nano_usd',
      'scopes',
      'models',
      'strict',
      'holds',
      'expires_at',
      'usage',
      'limits',
    ],
  ),
  KeyUsage: shape(
    "Calls of the key since the day or the month began in the account's time zone. The counters of tokens do not overlap, save `reasoning`.",
    {
      starts_at: time('Since when.'),
      requests: count('Calls, refused ones too.'),
      input: count('Tokens of input that no cache held.'),
      cache_read: count('Tokens read from a cache.'),
      cache_write_5m: count('Tokens written to a cache for five minutes.'),
      cache_write_1h: count('Tokens written to a cache for an hour.'),
      output: count('Tokens of output.'),
      reasoning: count('Tokens of reasoning, a part of the output.'),
      cost_nano_usd: amount('What the calls were charged.'),
    },
    [
      'starts_at',
      'requests',
      'input',
      'cache_read',
      'cache_write_5m',
      'cache_write_1h',
      'output',
      'reasoning',
      'cost_nano_usd',
    ],
  ),
  KeyRate: shape(
    'What is used of a limit per minute, by all calls that it binds. After a while without calls it is whole again.',
    {
      used: count('Used; above the limit where calls used more than their estimate.'),
      remaining: count('What it leaves.'),
      resets_at: time('When it is whole again.'),
    },
    ['used', 'remaining', 'resets_at'],
  ),
  KeyLimit: shape(
    'The limits of one of those that bind the key, and what is used of them by all calls that they bind. A null one is none.',
    {
      of: words(['key', 'workspace', 'account'], 'Whose limits these are.'),
      id: text('Its id.'),
      rpm: orNull(count('Requests per minute.', 1)),
      tpm: orNull(count('Tokens per minute.', 1)),
      concurrency: orNull(count('Calls at once.', 1)),
      requests: orNull(refTo('KeyRate')),
      tokens: orNull(refTo('KeyRate')),
      calls: orNull(
        shape(
          'What is used of the calls at once.',
          { running: count('Calls that run.'), remaining: count('How many more may run.') },
          ['running', 'remaining'],
        ),
      ),
      budget: orNull(refTo('KeyBudget')),
    },
    ['of', 'id', 'rpm', 'tpm', 'concurrency', 'requests', 'tokens', 'calls', 'budget'],
  ),
  KeyBudget: shape(
    'What calls may cost in a window, and what of it is left. Remaining is the amount less what is spent and held, or 0.',
    {
      window: words(['day', 'week', 'month', 'total'], "In the account's time zone."),
      amount_nano_usd: amount('The whole budget.'),
      spent_nano_usd: amount('What calls of the window have been charged.'),
      held_nano_usd: amount('What running calls hold.'),
      remaining_nano_usd: amount('What new calls may cost.'),
      starts_at: orNull(time('When the window began.')),
      resets_at: orNull(time('When the next window begins.')),
    },
    ['window', 'amount_nano_usd', 'spent_nano_usd', 'held_nano_usd', 'remaining_nano_usd', 'starts_at', 'resets_at'],
  ),
};
