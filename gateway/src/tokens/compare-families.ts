/**
 * Estimates how many tokens the tokenizer of one model takes for what another one counted, from the learned weights of
 * their families and samples of usual text. The samples differ, so the result is a range.
 */
import { estimateTextTokens } from './estimate-tokens.ts';
import { familyOf } from './token-families.ts';

export interface TokenRange {
  /** Tokens per token of the other model. */
  readonly low: number;
  readonly high: number;
}

export const SAME_TOKENS: TokenRange = { low: 1, high: 1 };

const SAMPLES = [
  'The service keeps its state in memory and writes every change to a log before it answers. When the process starts again, it reads the log from the last checkpoint, checks each record against its checksum, and stops at the first one that is incomplete. Most restarts take less than a second; the longest one that we have seen took eleven.',
  "export function parseRange(text: string): Range | null {\n  const match = /^(\\d+)-(\\d*)$/.exec(text);\n  if (match === null) return null;\n  const [, first = '', last = ''] = match;\n  return { start: Number(first), end: last === '' ? null : Number(last) + 1 };\n}\n\nfor (const { name, size } of entries.filter((entry) => !entry.isHidden)) {\n  console.log(name.padEnd(24), size.toFixed(2));\n}\n",
  '{"id":"ord_5f2c91","status":"shipped","items":[{"sku":"AX-1182","quantity":2,"unit_price":"19.90"},{"sku":"BQ-0071","quantity":1,"unit_price":"149.00"}],"address":{"city":"Rotterdam","zip":"3011 AD","country":"NL"},"created_at":"2026-03-14T09:26:53Z","notes":null,"is_gift":false}',
  'Der Dienst hält seinen Zustand im Speicher und schreibt jede Änderung in ein Protokoll, bevor er antwortet. Nach einem Neustart liest er das Protokoll ab dem letzten Sicherungspunkt, prüft jeden Eintrag und hört beim ersten unvollständigen auf. Die meisten Neustarts dauern weniger als eine Sekunde.',
];

/** `from`, `to`: names of models at their providers. Models of one family take the same tokens. */
export function compareTokens(from: string, to: string): TokenRange {
  const [before, after] = [familyOf(from), familyOf(to)];
  if (before === after && before !== 'other') return SAME_TOKENS;
  const ratios = SAMPLES.map((text) => estimateTextTokens(text, after) / estimateTextTokens(text, before));
  return { low: Math.min(...ratios), high: Math.max(...ratios) };
}
