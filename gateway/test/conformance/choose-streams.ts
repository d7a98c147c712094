/** Selects the recorded streams that are split and cut at every byte: few, short and as different as possible. */
import type { Recording } from '../fake-upstream/recording.ts';
import { recordedText } from './wire-text.ts';

/** Each pattern must occur in at least one stream, so that every repair by the relay is also tested with splits. */
const MENDED: readonly RegExp[] = [
  /"choices": ?\[\](?=[^\n]*"usage": ?\{)/,
  /"id": ?""/,
  /"error": ?\{/,
  /^: /m,
  /"stop_reason": ?"tool_use"/,
];

/**
 * Short streams that differ most: the shortest with each repair, then `count` of at most `bytesMax` bytes, one per set
 * of quirks, rarest first.
 */
export function chooseStreams(
  recordings: readonly Recording[],
  { bytesMax, count }: { readonly bytesMax: number; readonly count: number },
): Recording[] {
  const streams = recordings
    .filter((one) => one.stream)
    .sort((one, other) => recordedText(one, true).length - recordedText(other, true).length);
  const mended = MENDED.flatMap((mark) => streams.find((one) => mark.test(recordedText(one, false))) ?? []);
  const short = streams.filter((one) => recordedText(one, true).length <= bytesMax);
  const byQuirks = [...new Map(short.map((one) => [one.quirks.join(), one])).values()];
  const oddest = byQuirks.sort((one, other) => other.quirks.length - one.quirks.length).slice(0, count);
  return [...new Set([...mended, ...oddest])];
}
