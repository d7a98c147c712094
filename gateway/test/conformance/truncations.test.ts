/**
 * Tests that no stream is truncated silently: cuts recorded streams in the relay after every byte, by a clean end and
 * by loss of the connection. Without the protocol's end the client gets an in-band error.
 */
import { describe, expect, test } from 'bun:test';
import type { Recording } from '../fake-upstream/recording.ts';
import { recordingSets } from '../fake-upstream/recordings.ts';
import { chooseStreams } from './choose-streams.ts';
import { type Relayed, relayed } from './relay-stream.ts';
import { type Json, list, object, recordedText, words } from './wire-text.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
const CHOICE = EXHAUSTIVE ? { bytesMax: 8_192, count: 20 } : { bytesMax: 2_048, count: 3 };
const IN_BAND = /(?:^|\n\n)(?:data: \{"error":\{"message":.*\}|event: error\ndata: \{"type":"error",.*\})\n\n$/;
const TERMINAL = /data: (?:\[DONE\]|\{"type": ?"message_stop")/;

/** The data of every record of a cut text that is complete JSON, including a last one without its blank line. */
function eventsIn(text: string): Json[] {
  return text.split(/\n\n/).flatMap((record): Json[] => {
    const data = /^data: ?(.*)$/m.exec(record)?.[1] ?? '';
    try {
      const parsed = object(JSON.parse(data));
      return parsed === null ? [] : [parsed];
    } catch {
      return [];
    }
  });
}

/** Every choice seen has a finish reason. */
function everyReasonIn(text: string): boolean {
  const reasons = new Map<unknown, boolean>();
  for (const choice of eventsIn(text).flatMap((chunk) => list(chunk.choices).map(object))) {
    const index = choice?.index ?? 0;
    reasons.set(index, reasons.get(index) === true || words(choice?.finish_reason) !== null);
  }
  return reasons.size > 0 && [...reasons.values()].every(Boolean);
}

/** Whether this part of the recording says that the answer is over, or that it failed. */
function overIn(recording: Recording, text: string, end: 'clean' | 'lost'): 'over' | 'failed' | 'cut' {
  // A lost connection counts whole records only; a clean end also counts the tail.
  const counted = end === 'clean' ? text : text.slice(0, text.lastIndexOf('\n\n') + 2);
  const chat = recording.api === 'openai-chat';
  if (eventsIn(counted).some((one) => (chat ? one.error !== undefined : one.type === 'error'))) return 'failed';
  if (chat ? /^data: ?\[DONE\]\s*$/m.test(counted) : eventsIn(counted).some((one) => one.type === 'message_stop'))
    return 'over';
  return chat && end === 'clean' && everyReasonIn(counted) ? 'over' : 'cut';
}

function judge(found: Relayed, wanted: 'over' | 'failed' | 'cut', whole: string): string | null {
  const { text, began, outcome } = found;
  if (wanted === 'over') return TERMINAL.test(text) && outcome?.failure === null ? null : 'is over, but no success';
  if (!began) return outcome === null ? null : 'never began, but was settled by the relay';
  if (TERMINAL.test(text)) return 'has the end of a success';
  if (outcome === null || outcome.failure === null) return 'was settled as a success';
  if (wanted === 'failed') return null;
  if (!IN_BAND.test(text)) return `ends without an error: ${JSON.stringify(text.slice(-120))}`;
  const before = text.replace(IN_BAND, '').trimEnd();
  return whole.startsWith(before) ? null : 'has other bytes than the whole stream';
}

for (const [api, protocol] of [
  ['openai-chat', 'chat'],
  ['anthropic-messages', 'messages'],
] as const) {
  describe.each(recordingSets(api))(`${api} streams of $name that end behind every byte`, ({ recordings }) => {
    const streams = chooseStreams(recordings, CHOICE);
    test('there are streams to cut', () => {
      expect(streams.length).toBeGreaterThanOrEqual(5);
    });
    test.each(streams.map((one) => [one.id, one] as const))(
      '%s is an error in-band unless its end had come',
      async (_, recording) => {
        const bytes = Buffer.from(recordedText(recording, false));
        const whole = await relayed(protocol, [bytes]);
        const faults: string[] = [];
        for (let at = 0; at < bytes.length; at += 1) {
          const part = bytes.subarray(0, at);
          for (const end of ['clean', 'lost'] as const) {
            const wanted = overIn(recording, part.toString(), end);
            const fault = judge(await relayed(protocol, at === 0 ? [] : [part], end), wanted, whole.text);
            if (fault !== null) faults.push(`cut at ${at}, ${end}: ${fault}`);
          }
        }
        expect(faults).toEqual([]);
      },
      60_000,
    );
  });
}
