/** Lists the JSON bodies of the recorded interactions, which the generated texts change. */
import { recordingSets } from '../../../test/fake-upstream/recordings.ts';

const BYTES_MAX = 40_000;

/** Requests and answers of the corpus, and of the recordings next to the project if present. */
export function recordedBodies(): Uint8Array[] {
  return (['openai-chat', 'anthropic-messages'] as const)
    .flatMap((api) => recordingSets(api))
    .flatMap(({ recordings }) => recordings)
    .flatMap(({ request, response }) => [request?.body, response.body])
    .filter((body) => typeof body === 'object' && body !== null)
    .map((body) => Buffer.from(JSON.stringify(body)))
    .filter(({ length }) => length <= BYTES_MAX);
}
