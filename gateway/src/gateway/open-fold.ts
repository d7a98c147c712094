/** Owns joining a folded stream to its call: the meter, the limits, the clock. */
import type { ExchangeListener } from '../upstream/exchange.ts';
import { FoldedStream } from './folded-stream.ts';
import { MeteredBody } from './metered-body.ts';
import { openMeter } from './open-meter.ts';
import type { RoutedCall } from './plan-call.ts';
import { credentialOf, scrubText } from './scrub.ts';
import type { Folding } from './upstream-call.ts';

/** A folded stream, not yet connected to an upstream, and who listens to upstream for it. */
interface OpenFold {
  readonly stream: FoldedStream;
  readonly listener: ExchangeListener;
}

export function openFold({ call, gate, route }: RoutedCall, folding: Folding): OpenFold {
  const meter = openMeter(call, gate, folding.observer, {
    onGranted: () => metered?.goOn(),
    onRefused(failure) {
      call.failure = failure;
      // Where money is short, what came is the answer; where the store is away, nobody could be charged for it.
      if (failure.kind === 'quota_exceeded') stream.cut();
      else stream.interrupt(failure);
      metered?.drop();
    },
  });
  const credential = credentialOf(route.upstream);
  const stream = new FoldedStream({
    folding,
    limits: gate.settings.config.limits,
    scrub: (words) => scrubText(words, credential),
    onFirstByte() {
      call.firstByteMs = performance.now();
    },
    onRead: () => void meter?.covers(),
  });
  const metered = meter === null ? null : new MeteredBody(stream, meter);
  return { stream, listener: metered ?? stream };
}
