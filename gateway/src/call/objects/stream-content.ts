/** Streams the bytes of a file to the client. A provider that breaks off breaks the client's connection. */
import { CallFailure } from '../../errors/call-failure.ts';
import { codingOf } from '../../upstream/response-head.ts';
import type { Identified } from '../call.ts';
import { streamReply } from '../deliver/reply.ts';
import { type StreamForm, streamObject } from '../stored/stream-object.ts';
import type { ObjectPlace } from './choose-place.ts';
import { formatOf, judgeAnswer, type ObjectAnswer } from './exchange-object.ts';
import type { AskedObject } from './object-routes.ts';

/** A reply that is still being sent. */
export interface StreamedContent {
  readonly reply: Response;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
}

/** Resolves when the content begins, or with the provider's refusal. Rejects with CallFailure. */
export async function streamContent(
  call: Identified,
  place: ObjectPlace,
  { object }: AskedObject,
): Promise<StreamedContent | ObjectAnswer> {
  const sent = await streamObject(call, place, object, contentOf(call, place));
  if (sent.kind === 'answer') return judgeAnswer(call, place, sent.answer);
  const { head, body, closed } = sent;
  if (codingOf(head) !== 'identity') {
    await body.cancel();
    throw new CallFailure('upstream_malformed', 'the model provider sent a file in a content-encoding');
  }
  const reply = streamReply(call, body);
  // Whatever it is: a page of a file must never run as one of the gateway.
  reply.headers.set('content-type', 'application/octet-stream');
  reply.headers.set('content-disposition', 'attachment');
  return { reply, ended: closed };
}

function contentOf(call: Identified, place: ObjectPlace): StreamForm {
  return {
    content: { ...formatOf(call, place), form: { upload: null, acceptsAny: true } },
    bytesMax: Number.MAX_SAFE_INTEGER,
    isStream: ({ status }) => status === 200,
  };
}
