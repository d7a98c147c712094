/** Owns how a price is told to people in one line: its rates, and since when whose word they are. Every number is in its version. */
import { formatPercent, formatUsdPerMillion } from './money.ts';
import { FREE_PRICE, type Price } from './price.ts';

/** As the end of "it costs …". What calls of few kinds pay besides (long input, tools, sound and images) is left out. */
export function priceWords(price: Price): string {
  if (price.version === FREE_PRICE.version) return 'nothing: it is free';
  const [input, output] = [price.input, price.output].map(formatUsdPerMillion);
  return `$${input} per million tokens of input and $${output} of output${markUpWords(price)}, ${originWords(price)}`;
}

function markUpWords({ markUpPpm }: Price): string {
  if (markUpPpm === 0n) return '';
  return markUpPpm > 0n ? ` and ${formatPercent(markUpPpm)} % on top` : ` less ${formatPercent(-markUpPpm)} %`;
}

/** By what the version opens with; a price without a beginning has always held. */
function originWords({ version }: Price): string {
  const [, origin = '', since = ''] = /^([a-z]+):?(.*?)(?:\*.*)?@/.exec(version) ?? [];
  if (origin === 'catalog') return `by the catalogue of ${since.split('/')[0]}`;
  const place = origin === 'console' ? 'by the console' : 'by the configuration';
  return since === '' ? place : `${place} from ${momentWords(since)}`;
}

/** `2026-12-01` and `2026-12-01T08:00:00Z` as they are read, in UTC. */
function momentWords(text: string): string {
  const [day, time = ''] = new Date(text).toISOString().split(/[T.]/);
  return time === '00:00:00' ? `${day}` : `${day}, ${time} UTC`;
}
