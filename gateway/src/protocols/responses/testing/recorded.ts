/** Loads the recorded requests, answers and streams of the Responses API; null where the recordings are missing. */

import type { Recording } from '../../../../test/fake-upstream/recording.ts';
import { loadRecordings } from '../../../../test/fake-upstream/recordings.ts';
import { asArray, asObject, type JsonObject } from '../../json.ts';
import type { Event } from './responses-stream.ts';

const recordings = loadRecordings({ api: 'openai-responses' });

function recorded<Found>(pick: (recording: Recording) => Found | null) {
  return (
    recordings?.flatMap((recording) => {
      const found = pick(recording);
      return found === null ? [] : [{ id: recording.id, body: found }];
    }) ?? null
  );
}

/** Bodies of requests that were answered. */
export const RECORDED_REQUESTS = recorded(({ request, response }) =>
  request?.method === 'POST' && /\/responses$/.test(request.path) && response.status === 200 ? request.body : null,
);

/** Whole responses with output. */
export const RECORDED_ANSWERS = recorded(({ response: { status, body } }): JsonObject | null => {
  const found = typeof body === 'string' ? null : asObject(body);
  return status === 200 && found?.object === 'response' && asArray(found.output).length > 0 ? found : null;
});

export const RECORDED_STREAMS = recorded(({ stream, response: { body } }) =>
  stream && typeof body === 'string' && /^data:/m.test(body) ? body : null,
);

/** The events in the data lines of a stream. */
export function eventsIn(stream: string): Event[] {
  const data = stream.split('\n').filter((line) => line.startsWith('data:') && !line.includes('[DONE]'));
  return data.map((line): Event => JSON.parse(line.slice(5)));
}
