/** Tests how the entries of several sources become the models of one snapshot. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NO_FEES, parseFees } from '../../src/billing/price.ts';
import { checkSnapshot } from './check-snapshot.ts';
import { chooseEntries } from './choose-entries.ts';
import { compareSources } from './compare-sources.ts';
import { foldDatedNames } from './fold-dated-names.ts';
import { findGates } from './messages-gates.ts';
import type { ModelFacts, Release } from './model-facts.ts';
import { renderSnapshot } from './render-snapshot.ts';

const FACTS: ModelFacts = {
  provider: 'openai',
  id: 'm',
  shutdown: null,
  inputMax: 1000,
  outputMax: 100,
  modalities: ['text'],
  capabilities: ['tools'],
  price: { input: 2_000_000n, output: 8_000_000n },
  tiers: [],
  fees: NO_FEES,
  feesBeside: [],
  sourced: true,
};

const facts = (id: string, changes: Partial<ModelFacts> = {}): ModelFacts => ({ ...FACTS, id, ...changes });
const NO_RELEASES: ReadonlyMap<string, Release> = new Map();
const release = (changes: Partial<Release>): Release => ({
  name: 'M',
  released: null,
  input: null,
  output: null,
  ...changes,
});

function choose(listed: readonly ModelFacts[], releases = NO_RELEASES) {
  const entries = listed.map((each) => ({ provider: each.provider, id: each.id, facts: each, unusable: '' }));
  const { chosen, refused } = chooseEntries(entries, releases, '2026-11-20');
  return { ids: chosen.map(({ id }) => id), refused };
}

describe('chooseEntries', () => {
  test('leaves out what is shut down by today and keeps what is shut down tomorrow', () => {
    const listed = [facts('a', { shutdown: '2026-11-20' }), facts('b', { shutdown: '2026-11-21' })];
    expect(choose(listed)).toEqual({ ids: ['b'], refused: ['openai/a was shut down on 2026-11-20'] });
  });

  test('keeps a price without a page only if the second source has the same', () => {
    const listed = [facts('a', { sourced: false }), facts('b', { sourced: false }), facts('c', { sourced: false })];
    const releases = new Map([
      ['openai/a', release({ input: 2_000_000n, output: 8_000_000n })],
      ['openai/b', release({ input: 2_000_000n, output: 9_000_000n })],
    ]);
    expect(choose(listed, releases).ids).toEqual(['a']);
  });

  test('keeps a price without a page if the undated name has it with a page', () => {
    const listed = [facts('a-2026-01-02', { sourced: false }), facts('a')];
    expect(choose(listed).ids).toEqual(['a-2026-01-02', 'a']);
    const dearer = facts('a', { price: { input: 3_000_000n, output: 8_000_000n } });
    expect(choose([facts('a-2026-01-02', { sourced: false }), dearer]).ids).toEqual(['a']);
  });

  test('leaves out fine-tuned classes, short forms and models rented by the hour, each with its reason', () => {
    const listed = [
      facts('ft:a'),
      facts('glm', { provider: 'fireworks' }),
      facts('accounts/fireworks/models/glm', { provider: 'fireworks' }),
    ];
    expect(choose(listed)).toEqual({
      ids: [],
      refused: [
        'openai/ft:a is a price class of fine-tuned models, not a model',
        'fireworks/glm is a short form that the API does not accept',
        'fireworks/accounts/fireworks/models/glm is not charged per token',
      ],
    });
  });
});

describe('foldDatedNames', () => {
  const fold = (listed: readonly ModelFacts[], releases = NO_RELEASES) =>
    foldDatedNames(listed, releases).map(({ id, aliases, released }) => [id, aliases, released]);

  test('makes a dated name an alias of the undated one and its date the release', () => {
    expect(fold([facts('m-2025-04-14'), facts('m')])).toEqual([['m', ['m-2025-04-14'], '2025-04-14']]);
    expect(fold([facts('m'), facts('m-20250929')])).toEqual([['m', ['m-20250929'], '2025-09-29']]);
  });

  test('keeps a dated name apart whose price, tiers or limits differ', () => {
    const tier = { above: 200_000, price: FACTS.price };
    const fees = parseFees({ web_search: '10' });
    for (const changes of [{ fees }, { price: { ...FACTS.price, output: 1n } }, { tiers: [tier] }, { outputMax: 99 }]) {
      expect(fold([facts('m'), facts('m-2025-04-14', changes)]).map(([id]) => id)).toEqual(['m', 'm-2025-04-14']);
    }
  });

  test('keeps a dated name apart where the undated one is not listed, or is another provider’s', () => {
    expect(fold([facts('m-2025-04-14'), facts('m', { provider: 'xai' })]).map(([id]) => id)).toEqual([
      'm-2025-04-14',
      'm',
    ]);
  });

  test('takes no month, size or context for a date', () => {
    for (const id of ['m-2512', 'm-32768', 'm-0309', 'm-128k']) {
      expect(fold([facts('m'), facts(id)]).length).toBe(2);
    }
  });

  test('states no release date where several dates compete, unless the second source knows it', () => {
    const listed = [facts('m'), facts('m-2024-08-06'), facts('m-2024-11-20')];
    expect(fold(listed)).toEqual([['m', ['m-2024-08-06', 'm-2024-11-20'], null]]);
    expect(fold(listed, new Map([['openai/m', release({ released: '2024-05-13' })]]))[0]?.[2]).toBe('2024-05-13');
  });

  test('stops where the list has one name at two prices', () => {
    const twice = [facts('m'), facts('m', { price: { input: 1n, output: 1n } })];
    expect(() => foldDatedNames(twice, NO_RELEASES)).toThrow('openai/m is listed twice at different prices');
  });
});

describe('renderSnapshot', () => {
  test('gives the same text in whatever order the entries come, and text that the gateway can read', () => {
    const listed = ['a', 'b', 'b-2025-01-01', 'c'].map((id) => facts(id));
    const render = (entries: readonly ModelFacts[]) =>
      renderSnapshot('2026-11-20', [], foldDatedNames(entries, NO_RELEASES));
    const text = render(listed);
    expect(checkSnapshot(JSON.parse(text)).models.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    fc.assert(
      fc.property(fc.shuffledSubarray(listed, { minLength: 4 }), (shuffled) => {
        expect(render(shuffled)).toBe(text);
      }),
    );
  });

  test('writes the prices of sound and images only where they differ from their whole, and the fees where there are any', () => {
    const line = (changes: Partial<ModelFacts>) =>
      renderSnapshot('2026-11-20', [], foldDatedNames([facts('m', changes)], new Map()));
    expect(line({ price: { ...FACTS.price, audio_input: 32_000_000n, image_input: 2_000_000n } })).toContain(
      '"price":{"input":"2","output":"8","audio_input":"32"}',
    );
    expect(line({})).not.toContain('per_1000_requests');
    expect(line({ fees: parseFees({ web_search: '10', web_fetch: '0' }) })).toContain(
      '"per_1000_requests":{"web_fetch":"0","web_search":"10"}',
    );
  });

  test('writes a reasoning price only where it differs from output', () => {
    const line = (reasoning: bigint) =>
      renderSnapshot(
        '2026-11-20',
        [],
        foldDatedNames([facts('m', { price: { ...FACTS.price, reasoning } })], new Map()),
      );
    expect(line(8_000_000n)).not.toContain('reasoning');
    expect(line(9_000_000n)).toContain('"reasoning":"9"');
  });
});

describe('findGates', () => {
  test('takes the longest family that the id contains', () => {
    expect(findGates('claude-opus-5-5')?.forcedToolChoice).toBe(false);
    expect(findGates('claude-opus-5')?.forcedToolChoice).toBe(true);
    expect(findGates('claude-fable-5-1')?.forcedToolChoice).toBe(false);
    expect(findGates('claude-fable-5')?.forcedToolChoice).toBe(true);
    expect(findGates('claude-mythos-5')).toBeNull();
  });
});

describe('compareSources', () => {
  test('says where prices, limits and lists differ', () => {
    const models = foldDatedNames([facts('m'), facts('claude-opus-4-1', { provider: 'anthropic' })], new Map());
    const releases = new Map([
      ['openai/m', release({ input: 3_000_000n, output: 8_000_000n })],
      ['openai/old', release({})],
    ]);
    expect(compareSources(models, releases)).toEqual([
      'anthropic/claude-opus-4-1: output_max 100; the table of gates says 32000',
      'openai/m: input 2; the older source says 3',
      'openai/old: only the older source has it; omitted',
    ]);
  });
});
