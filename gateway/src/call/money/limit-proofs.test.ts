/**
 * Tests limit-proofs.ts: what proves that a target honors output limits, what disproves it, and what the operator is
 * told.
 */
import { describe, expect, test } from 'bun:test';
import { buildRemoteProvider } from '../../config/resolve-providers.ts';
import type { OutputLimitMember } from '../../protocols/request/request-facts.ts';
import { findPreset, originOf, PRESETS } from '../../providers/presets/presets.ts';
import { singleCredential, type Upstream } from '../../providers/provider.ts';
import { openUpstream } from '../../providers/upstream.ts';
import { type LimitExceeded, LimitProofs } from './limit-proofs.ts';

const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };

/** A model of a preset, at the preset's own address or at another one. */
function upstreamOf(presetName: string, address?: string, model = 'm'): Upstream {
  const preset = findPreset(presetName);
  if (preset === undefined) throw new Error(`there is no preset ${presetName}`);
  const url = address ?? preset.baseUrl;
  const parts = { name: presetName, kind: preset.kind, preset, pool: singleCredential({}), timeouts } as const;
  const provider = buildRemoteProvider({ ...parts, address: { url, origin: new URL(url).origin } });
  return openUpstream({ provider, model, timeouts: null });
}

function openProofs() {
  const told: LimitExceeded[] = [];
  return { told, proofs: new LimitProofs((exceeded) => told.push(exceeded)) };
}

const LAB = upstreamOf('groq');
const limitOf = (tokens: number, member: OutputLimitMember | null = 'max_tokens') => ({ member, tokens });

interface Answered {
  readonly upstream?: Upstream;
  readonly answers?: number;
  readonly endedByLimit?: boolean;
}

/** An answer to a call with that limit: complete, and ended by it unless it is longer. */
function answer(limit: ReturnType<typeof limitOf>, output: number, answered: Answered = {}) {
  const { upstream = LAB, answers = 1 } = answered;
  const { endedByLimit = output <= limit.tokens * answers } = answered;
  return { upstream, limit, answers, output, endedByLimit, requestId: 'req_1' };
}

describe('a target is proven', () => {
  test('by one answer that ended at its limit, for that member and for limits as large', () => {
    const { proofs } = openProofs();
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('meter');
    proofs.note(answer(limitOf(64), 64), 0);
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('limit');
    expect(proofs.trustOf(LAB, limitOf(64_000))).toBe('limit');
    // It may have stopped at a limit of its own.
    expect(proofs.trustOf(LAB, limitOf(63))).toBe('meter');
    expect(proofs.trustOf(LAB, limitOf(64, 'max_completion_tokens'))).toBe('meter');
    expect(proofs.trustOf(LAB, limitOf(64, null))).toBe('meter');
    proofs.note(answer(limitOf(500), 500), 0);
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('limit');
  });

  test.each([
    ['an answer that ended by itself', answer(limitOf(64), 10, { endedByLimit: false })],
    ['several answers, of which one may be longer than the others', answer(limitOf(64), 100, { answers: 4 })],
    ['a call whose limit the target may read in another member', answer(limitOf(64, null), 64)],
  ])('not by %s', (_, noted) => {
    const { proofs } = openProofs();
    proofs.note(noted, 0);
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('meter');
  });

  test('for itself alone: not for another model, nor for another address under its name', () => {
    const { proofs } = openProofs();
    proofs.note(answer(limitOf(1), 1), 0);
    expect(proofs.trustOf(upstreamOf('groq', undefined, 'other'), limitOf(1))).toBe('meter');
    expect(proofs.trustOf(upstreamOf('groq', 'http://127.0.0.1:9/v1'), limitOf(1))).toBe('meter');
    expect(proofs.trustOf(upstreamOf('groq'), limitOf(1))).toBe('limit');
  });

  test('from the start where it is a vendor’s own host, at its own address, by the members that it has', () => {
    const { proofs } = openProofs();
    const trusted = PRESETS.filter(({ name }) => proofs.trustOf(upstreamOf(name), limitOf(1)) === 'limit');
    expect(trusted.map(({ name }) => name)).toEqual([
      'openai',
      'anthropic',
      'gemini',
      'gemini-openai',
      'mistral',
      'deepseek',
      'xai',
      'moonshot',
      'zai',
      'alibaba',
      'perplexity',
    ]);
    expect(proofs.trustOf(upstreamOf('openai'), limitOf(1, 'max_completion_tokens'))).toBe('limit');
    // DeepSeek does not know the member, and ignores unknown members.
    expect(proofs.trustOf(upstreamOf('deepseek'), limitOf(1, 'max_completion_tokens'))).toBe('meter');
    expect(proofs.trustOf(upstreamOf('openai', 'http://127.0.0.1:9/v1'), limitOf(1))).toBe('meter');
    for (const preset of PRESETS) expect(preset.baseUrl).toStartWith(originOf(preset) ?? 'https://');
  });
});

describe('an answer above its limit', () => {
  test.each([
    ['a target that was proven', 'groq', 'slice'],
    ['a vendor’s own host', 'openai', 'slice'],
  ] as const)('unproves %s, until another one ends at its limit', (_, preset, trust) => {
    const { proofs } = openProofs();
    const upstream = upstreamOf(preset);
    proofs.note(answer(limitOf(1), 1, { upstream }), 0);
    proofs.note(answer(limitOf(64), 65, { upstream }), 0);
    expect(proofs.trustOf(upstream, limitOf(1))).toBe(trust);
    expect(proofs.trustOf(upstream, limitOf(1, null))).toBe(trust);
    proofs.note(answer(limitOf(64), 64, { upstream }), 0);
    expect(proofs.trustOf(upstream, limitOf(64))).toBe('limit');
  });

  test('is one whose answers together are above all of their limits', () => {
    const { proofs, told } = openProofs();
    proofs.note(answer(limitOf(10), 40, { answers: 4 }), 0);
    expect(told).toEqual([]);
    proofs.note(answer(limitOf(10), 41, { answers: 4 }), 0);
    expect(told).toMatchObject([{ provider: 'groq', model: 'm', limit: 40, output: 41, calls: 1 }]);
  });

  test('is reported once an hour for each target, with the number of answers', () => {
    const { proofs, told } = openProofs();
    for (const atMs of [0, 1, 3_599_999, 3_600_000]) proofs.note(answer(limitOf(1), 9), atMs);
    expect(told.map(({ calls }) => calls)).toEqual([1, 3]);
    proofs.note(answer(limitOf(1), 9, { upstream: upstreamOf('together') }), 2);
    expect(told).toHaveLength(3);
  });
});

describe('a target that does not stream', () => {
  test('bounds nothing where it refuses to, until it streams or is proven', () => {
    const { proofs } = openProofs();
    proofs.noteStreaming(LAB, 'refuses');
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('nothing');
    proofs.noteStreaming(LAB, null);
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('meter');
    proofs.noteStreaming(LAB, 'refuses');
    proofs.note(answer(limitOf(64), 64), 0);
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('limit');
  });

  test('bounds nothing where it answers in one piece and went above a limit', () => {
    const { proofs } = openProofs();
    proofs.noteStreaming(LAB, 'ignores');
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('meter');
    proofs.note(answer(limitOf(1), 9), 0);
    expect(proofs.trustOf(LAB, limitOf(64))).toBe('nothing');
  });
});
