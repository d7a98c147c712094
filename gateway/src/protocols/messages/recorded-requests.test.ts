/**
 * Tests both directions of a request against real traffic: client requests to Anthropic are parsed completely and can
 * be rendered again.
 */
import { describe, expect, test } from 'bun:test';
import type { Recording } from '../../../test/fake-upstream/recording.ts';
import { recordingSets } from '../../../test/fake-upstream/recordings.ts';
import type { GenerationRequest } from '../../generation/request.ts';
import { asObject } from '../json.ts';
import { CAPABLE } from '../testing/capable-upstream.ts';
import { parse, refusal, render } from './testing/request-rig.ts';

/** The requests in a list of recordings. */
function bodiesOf(recordings: readonly Recording[]) {
  return recordings.flatMap(({ id, request }) => {
    const body = asObject(request?.body);
    return body === null || !Array.isArray(body.messages) ? [] : [{ id, body }];
  });
}

/** Requests that no translation can carry, and one history whose result answers another call. */
const REFUSED = /^(container|mcp_servers|messages\.1\.tool_calls\.0): /;

/** Equal in meaning: five minutes are the default TTL, an image has the type that its bytes have. */
function contentOf({ turns, tools, tool_choice, output_format, stop, end_user }: GenerationRequest): unknown {
  return JSON.parse(
    JSON.stringify({ turns, tools, tool_choice, output_format, stop, end_user })
      .replaceAll('"ttlMinutes":5}', '"ttlMinutes":null}')
      .replaceAll(/"media_type":"image\/[a-z]+"/g, '"media_type":"image"'),
  );
}

describe.each(recordingSets('anthropic-messages'))('requests of $name', ({ name, recordings }) => {
  const bodies = bodiesOf(recordings);

  test('are refused only for what cannot be carried', () => {
    const messages = bodies.flatMap(({ body }) => refusal(() => render(parse(body).request))?.message ?? []);
    expect(messages.filter((message) => !REFUSED.test(message))).toEqual([]);
    expect(messages.length).toBeLessThan(bodies.length / 20);
  });

  test('requests survive a round trip with the same turns, tools and format', () => {
    let compared = 0;
    for (const { body } of bodies) {
      if (refusal(() => render(parse(body).request)) !== null) continue;
      const first = parse(body);
      const rendered = render(first.request, CAPABLE, true);
      expect(contentOf(parse(rendered.json, true).request)).toEqual(contentOf(first.request));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(name === 'corpus' ? 80 : 150);
  });
});
