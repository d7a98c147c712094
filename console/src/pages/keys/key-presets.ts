/** Defines presets for new keys: sensible limits for four uses. The typed name, workspace and models are kept. */
import type { KeyDraft } from './key-draft.ts';

export interface KeyPreset {
  readonly id: string;
  readonly name: string;
  readonly means: string;
  readonly fills: Pick<KeyDraft, 'caps' | 'expiry' | 'scopes'>;
}

export const KEY_PRESETS: readonly KeyPreset[] = [
  {
    id: 'agent',
    name: 'Coding agent',
    means: 'For one developer’s agent and subagents: $25 per day, expires in 90 days.',
    fills: {
      caps: { rpm: '120', tpm: '2000000', concurrency: '16', budget: '25', window: 'day' },
      expiry: '90d',
      scopes: ['inference'],
    },
  },
  {
    id: 'production',
    name: 'Production',
    means: 'For a service: high rate limits, $1,000 per month, no expiry.',
    fills: {
      caps: { rpm: '3000', tpm: '', concurrency: '500', budget: '1000', window: 'month' },
      expiry: 'never',
      scopes: ['inference'],
    },
  },
  {
    id: 'ci',
    name: 'CI',
    means: 'For automated tests: $5 per day, 8 concurrent requests, expires in 90 days.',
    fills: {
      caps: { rpm: '60', tpm: '500000', concurrency: '8', budget: '5', window: 'day' },
      expiry: '90d',
      scopes: ['inference'],
    },
  },
  {
    id: 'trial',
    name: 'Trial',
    means: 'For evaluation: $5 total, 2 concurrent requests, expires in 7 days.',
    fills: {
      caps: { rpm: '20', tpm: '100000', concurrency: '2', budget: '5', window: 'total' },
      expiry: '7d',
      scopes: ['inference'],
    },
  },
];

/** Applies the preset's limits to the draft. */
export function applyPreset(draft: KeyDraft, preset: KeyPreset): KeyDraft {
  return { ...draft, ...preset.fills, expiresAt: '' };
}
