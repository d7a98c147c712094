/** Decides which requests are traced. */
import type { TraceSampling } from '../../config/telemetry-config.ts';
import type { Sample } from '../../lib/trace-context.ts';

const RANGE = 2 ** 32;

/** By the trace id's last 32 bits, so that every service that samples the same share chooses the same traces. */
export function createSample({ ratio, followsParent }: TraceSampling): Sample {
  return (traceId, parent) => {
    if (followsParent && parent !== null) return parent.sampled;
    return Number.parseInt(traceId.slice(-8), 16) < ratio * RANGE;
  };
}
