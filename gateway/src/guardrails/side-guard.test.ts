/** Tests the limit of masks: a request of a few bytes per mask would otherwise take a hundred times its memory. */
import { expect, test } from 'bun:test';
import { sampleGuardrail } from '../store/contracts/guardrails-contract.ts';
import { personalDataMatchers } from './personal-data.ts';
import { SideGuard } from './side-guard.ts';

const MASKS_MAX = 100_000;
const RULE = sampleGuardrail('mails', {
  name: 'Mails',
  check: 'personal_data',
  items: ['email'],
  side: 'both',
  action: 'mask',
});

async function countEdits(mails: number, failsOpen: boolean): Promise<number[]> {
  const rule = { ...RULE, failsOpen };
  const side = new SideGuard({
    side: 'request',
    rules: [rule],
    textRules: [{ rule, matchers: personalDataMatchers(new Set(['email'])) }],
    unknown: null,
    maskKey: Buffer.alloc(32),
    hook: { open: () => null, fetchFor: () => fetch },
  });
  const texts = ['a@b.cc '.repeat(mails - 1), 'a@b.cc'].map((text) => ({ text, masks: true }));
  const edits = await side.check(texts, { account: '', workspace: '', key: '', model: null }, new Map());
  return edits.map(({ length }) => length);
}

test('a request has at most as many masks as the limit', async () => {
  expect(await countEdits(MASKS_MAX, false)).toEqual([MASKS_MAX - 1, 1]);
  await expect(countEdits(MASKS_MAX + 1, false)).rejects.toMatchObject({
    kind: 'guardrail_blocked',
    message: 'the guardrail "Mails" cannot check this request: it found more than 100000 places to mask',
  });
});

test('a rule that fails open lets pass what is beyond the limit', async () => {
  expect(await countEdits(MASKS_MAX + 1, true)).toEqual([MASKS_MAX, 0]);
});
