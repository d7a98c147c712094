/** Tests that an upstream that answers with other models is charged for the model that answered. */
import { expect, test } from 'bun:test';
import { priceAt } from '../../billing/price-book.ts';
import { findModel } from '../../catalog/catalog.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import { routedCall } from '../testing/routed-call.ts';
import { priceAnswer } from './answer-prices.ts';

const USAGE = { ...ZERO_USAGE, input: 1_000, output: 100 };

function versionFor(model: string, answersAsOther: boolean): string {
  const call = routedCall({});
  const known = findModel('deepseek', 'deepseek-v4-pro');
  const catalog = known === null ? null : { ...known, model: known.id };
  const upstream = { ...call.target.upstream, model: 'claude-opus-4-8', answersAsOther };
  const target = { ...call.target, upstream, catalog };
  const requested = priceAt(target.prices, call.atMs);
  if (catalog === null || requested === null) throw new Error('expected a priced model of the catalogue');
  const facts: AnswerFacts = {
    usage: USAGE,
    usageFlags: [],
    usageSoFar: USAGE,
    finish_reason: 'end_turn',
    model,
    outputBytes: 0,
    reasoningBytes: 0,
    outputBytesMax: 0,
  };
  const { principal, atMs } = call;
  const billing = { priced: (price: typeof requested) => price };
  return priceAnswer({ target, priced: null, principal, atMs }, requested, USAGE, facts, billing).price.version;
}

test('the model that answered sets the price only where an upstream is known to answer with others', () => {
  expect(versionFor('deepseek-v4-flash', true)).toContain('/deepseek/deepseek-v4-flash');
  expect(versionFor('deepseek-v4-flash', false)).not.toContain('deepseek');
  expect(versionFor('claude-opus-4-8', true)).not.toContain('deepseek');
  expect(versionFor('deepseek-v9-nowhere', true)).not.toContain('deepseek');
});
