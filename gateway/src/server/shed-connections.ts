/**
 * Closes client connections when file descriptors run short: idle ones first, then those with slowly arriving bodies,
 * starting with the addresses that have the most of them. Ends no call.
 */
import type { DescriptorBounds } from '../admission/descriptor-bounds.ts';
import { type ArrivingBody, arrivingBodies } from '../call/request/arriving-body.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { countDescriptors, keepSpareDescriptors, lowestFreeDescriptor } from '../lib/open-files.ts';

export interface Shedding {
  readonly bounds: DescriptorBounds;
  /** Closes connections without a request, both client and upstream connections. */
  closeIdle(): void;
  /** Called when descriptors run short, at most once a minute. */
  onShort(inUse: number): void;
}

const LOOK_EVERY_MS = 100;
const TELL_EVERY_MS = 60_000;

/** Starts the checks; returns a function that stops them. */
export function startShedding(shedding: Shedding): () => void {
  const { bounds, onShort } = shedding;
  if (!Number.isFinite(bounds.shortFrom)) return () => {};
  keepSpareDescriptors(bounds.spares);
  let isShort = false;
  let toldMs = Number.NEGATIVE_INFINITY;
  const look = () => {
    // All below the lowest free one are in use, and holes are filled first: a count is needed only when short.
    if (!isShort && (lowestFreeDescriptor() ?? bounds.most) < bounds.shortFrom) return;
    const inUse = countDescriptors() ?? bounds.most;
    isShort = inUse >= bounds.enoughBelow;
    if (inUse < bounds.shortFrom) {
      keepSpareDescriptors(bounds.spares);
      return;
    }
    if (performance.now() - toldMs >= TELL_EVERY_MS) {
      toldMs = performance.now();
      onShort(inUse);
    }
    shed(shedding);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function shed({ bounds, closeIdle }: Shedding): void {
  closeIdle();
  // If no descriptor is left for the count, all are in use.
  const excess = (countDescriptors() ?? bounds.most) - bounds.enoughBelow;
  if (excess <= 0) return;
  for (const body of chooseBodies(arrivingBodies(), excess)) {
    body.end(
      new CallFailure('over_capacity', 'the gateway has too many connections open; try again shortly', {
        closeConnection: true,
        retryAfterSeconds: 1,
      }),
    );
  }
}

/** Chooses from the addresses with the most bodies, and of an address the oldest. */
export function chooseBodies<Body extends Pick<ArrivingBody, 'startMs' | 'address'>>(
  bodies: readonly Body[],
  most: number,
): readonly Body[] {
  const byAddress = new Map<string | null, Body[]>();
  for (const body of bodies) {
    const address = body.address();
    const ofAddress = byAddress.get(address);
    if (ofAddress === undefined) byAddress.set(address, [body]);
    else ofAddress.push(body);
  }
  const ranked: { readonly body: Body; readonly left: number }[] = [];
  for (const ofAddress of byAddress.values()) {
    ofAddress.sort((one, other) => one.startMs - other.startMs);
    for (const [index, body] of ofAddress.entries()) ranked.push({ body, left: ofAddress.length - index });
  }
  ranked.sort((one, other) => other.left - one.left);
  return ranked.slice(0, most).map(({ body }) => body);
}
