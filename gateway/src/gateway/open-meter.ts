/** Owns joining a stream's meter to its call: the money, the model's ratio, the estimate of the prompt. Meters nothing itself. */
import type { StreamObserver } from '../protocols/protocol.ts';
import type { Call } from './call.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { Gate } from './gate.ts';
import { type MeterParts, StreamMeter } from './stream-meter.ts';

/** Null: all that may come is held for, or nothing has to be. */
export function openMeter(
  { money, route, facts }: Call,
  { desk }: Pick<Gate, 'desk'>,
  observer: StreamObserver,
  outcomes: Pick<MeterParts, 'onGranted' | 'onRefused'>,
): StreamMeter | null {
  if (money === null || !money.isMetered) return null;
  const upstream = route?.upstream ?? null;
  return new StreamMeter({
    money,
    observer,
    tokensIn: (bytes) => desk.ratio.tokensIn(upstream, bytes),
    inputTokens: estimateTokens(facts?.inputBytes ?? 0),
    ...outcomes,
  });
}
