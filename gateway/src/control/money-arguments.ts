/** Owns the shapes of amounts and percentages in commands' arguments: decimal texts, read exactly. */
import { z } from 'zod';
import { PriceError, parseUsd } from '../billing/money.ts';

/** One per cent in parts of a million. */
const PPM_PER_PERCENT_DECIMALS = 4;
const MARK_UP_PPM_MIN = -1_000_000;
const MARK_UP_PPM_MAX = 100_000_000;
const PERCENT = /^(-?)([0-9]{1,6})(?:\.([0-9]{1,4}))?$/;

/** A decimal text of USD, 0 or more, as integer nano-USD. A number would have lost digits before it came here. */
export const usdAmount = z.string().transform((text, context) => readUsd(text, context));

/** As `usdAmount`, and more than nothing. */
export const usdMoved = z.string().transform((text, context) => refuseNothing(readUsd(text, context), context));

/** As `usdMoved`; a minus sign in front takes away. */
export const usdCorrection = z.string().transform((text, context) => {
  const size = refuseNothing(readUsd(text.replace(/^-/, ''), context), context);
  return text.startsWith('-') ? -size : size;
});

/** A decimal text of per cent, such as `12.5` or `-10`, as integer parts of a million. */
export const markUpPercent = z.string().transform((text, context) => {
  const [, sign, whole, fraction = ''] = PERCENT.exec(text) ?? [];
  const size = Number(`${whole ?? ''}${fraction.padEnd(PPM_PER_PERCENT_DECIMALS, '0')}`);
  const ppm = sign === '-' && size > 0 ? -size : size;
  if (whole !== undefined && ppm >= MARK_UP_PPM_MIN && ppm <= MARK_UP_PPM_MAX) return ppm;
  context.addIssue({
    code: 'custom',
    message: `found ${JSON.stringify(text.slice(0, 60))}, expected per cent from -100 to 10000 with at most 4 decimal places, such as 12.5`,
  });
  return z.NEVER;
});

function readUsd(text: string, context: z.core.$RefinementCtx<string>): bigint {
  try {
    return parseUsd(text, 'usd');
  } catch (fault) {
    if (!(fault instanceof PriceError)) throw fault;
    context.addIssue({ code: 'custom', message: `found ${fault.found}, expected ${fault.expected}` });
    return z.NEVER;
  }
}

function refuseNothing(amount: bigint, context: z.core.$RefinementCtx<string>): bigint {
  if (amount === 0n) context.addIssue({ code: 'custom', message: 'found no money at all, expected more than 0 USD' });
  return amount;
}
