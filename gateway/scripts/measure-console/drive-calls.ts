/**
 * Calls a gateway at an even pace, regardless of how long responses take. Each call's duration counts from when it was
 * due.
 */

const BODY = JSON.stringify({ model: 'ok', max_tokens: 50, messages: [{ role: 'user', content: 'Good day.' }] });

/** Durations in ms, of all calls. @throws Error if a call failed. */
export async function driveCalls(url: string, key: string, perSecond: number, lengthMs: number): Promise<number[]> {
  const tookMs: number[] = [];
  const underWay: Promise<void>[] = [];
  const startMs = performance.now();
  for (let nth = 0; (nth * 1_000) / perSecond < lengthMs; nth++) {
    const dueMs = startMs + (nth * 1_000) / perSecond;
    // A sleep may end slightly early.
    while (performance.now() < dueMs) await Bun.sleep(dueMs - performance.now());
    underWay.push(callOnce(url, key).then(() => void tookMs.push(performance.now() - dueMs)));
  }
  await Promise.all(underWay);
  return tookMs;
}

async function callOnce(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: BODY,
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`a request got status ${response.status}`);
}
