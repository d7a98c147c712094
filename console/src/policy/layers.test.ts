/** Tests the display of limits in two layers. */
import { expect, test } from 'bun:test';
import type { Caps } from './caps-draft.ts';
import { capsByLayer, type Gauge, layeredText, lowerRates, otherLayerText, tightestGauge } from './caps-text.ts';

const NONE: Caps = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
const OPERATOR: Caps = { ...NONE, rpm: 60, budget_usd: '25', budget_window: 'month' };
const OWN: Caps = { ...NONE, rpm: 90, tpm: 1_000 };

test('names the limits of the other layer and who set them', () => {
  expect(otherLayerText({ layer: 'account', caps: OWN, other_caps: OPERATOR })).toBe(
    'Set by the operator: $25.00 per month · 60 RPM',
  );
  expect(otherLayerText({ layer: 'operator', caps: OPERATOR, other_caps: OWN })).toBe(
    'Set by the account: 90 RPM · 1,000 TPM',
  );
  expect(otherLayerText({ layer: 'account', caps: OWN, other_caps: NONE })).toBeNull();
  expect(otherLayerText({ layer: 'operator', caps: OPERATOR, other_caps: null })).toBeNull();
  expect(layeredText({ layer: 'account', caps: NONE, other_caps: OPERATOR })).toBe(
    'Set by the operator: $25.00 per month · 60 RPM',
  );
  expect(layeredText({ layer: 'operator', caps: NONE, other_caps: null })).toBe('');
});

test('layers don’t depend on the reader, and the lower rate applies', () => {
  const byAccount = { layer: 'account', caps: OWN, other_caps: OPERATOR } as const;
  const byOperator = { layer: 'operator', caps: OPERATOR, other_caps: OWN } as const;
  for (const layered of [byAccount, byOperator]) {
    expect(capsByLayer(layered)).toEqual({ operator: OPERATOR, account: OWN });
    expect(lowerRates(layered)).toEqual({ ...NONE, rpm: 60, tpm: 1_000 });
  }
});

test('shows the gauge with less left', () => {
  const gauge = (layer: Gauge['layer'], limit: string, used: string): Gauge => ({
    subject: { kind: 'account', id: 'a' },
    layer,
    sort: 'budget',
    limit,
    used,
    held: '0',
    window: 'day',
    resets_at: null,
  });
  const [operator, own] = [gauge('operator', '100', '90'), gauge('account', '50', '10')];
  expect(tightestGauge([operator, own], 'budget')).toBe(operator);
  expect(tightestGauge([own, operator], 'budget')).toBe(operator);
  expect(tightestGauge([operator, own], 'rpm')).toBeUndefined();
});
