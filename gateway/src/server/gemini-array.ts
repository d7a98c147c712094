/**
 * Writes a Gemini stream as Google does without `alt=sse`: a JSON array with an element for each event, piece by piece.
 * Records, stored answers and metering see the events. Specification of other endpoints, 4.3.
 */
import type { CallOrigin } from '../call/call.ts';
import { type AnswerStream, type DirectController, streamBody } from '../call/stream/outbox.ts';
import { dataText } from '../framing/framing.ts';
import { startSseDecoder } from '../framing/sse-decoder.ts';

const JSON_TYPE = 'application/json; charset=UTF-8';

/** Runs a streamed call, whose answer becomes an array. `run` gets the origin of the call. */
export async function replyAsArray(
  origin: CallOrigin,
  run: (origin: CallOrigin) => Promise<Response>,
): Promise<Response> {
  const taken: { stream: AnswerStream | null } = { stream: null };
  const reply = await run({
    address: () => origin.address(),
    replyReady: () => origin.replyReady(),
    takeStream(stream) {
      taken.stream = stream;
    },
  });
  const { status, headers } = reply;
  headers.set('content-type', JSON_TYPE);
  // Google's errors are in an array too.
  if (status !== 200) return new Response(`[${await reply.text()}]`, { status, headers });
  const { stream } = taken;
  if (stream === null) return new Response(arrayOf(await reply.bytes()), { headers });
  const body = streamBody({
    attach: (controller) => stream.attach(new ArrayWriter(controller)),
    leave: () => stream.leave(),
  });
  return new Response(body, { headers });
}

/** The array of a whole stream. */
function arrayOf(events: Uint8Array): Buffer {
  const elements = new ArrayElements();
  return Buffer.concat([elements.push(events), elements.end()]);
}

/** Writes events to a client as the elements of an array. */
class ArrayWriter implements DirectController {
  readonly #client: DirectController;
  readonly #elements = new ArrayElements();

  constructor(client: DirectController) {
    this.#client = client;
  }

  write(bytes: Uint8Array): number | Promise<number> {
    const elements = this.#elements.push(bytes);
    return elements.length === 0 ? bytes.length : this.#client.write(elements);
  }

  flush(): unknown {
    return this.#client.flush();
  }

  close(): void {
    this.#client.write(this.#elements.end());
    this.#client.close();
  }
}

const SPACE = '\n';

/** Cuts a stream of events, however it is split, into the bytes of an array. */
export class ArrayElements {
  readonly #decoder = startSseDecoder(Number.MAX_SAFE_INTEGER);
  #isEmpty = true;

  push(bytes: Uint8Array): Buffer {
    let text = '';
    for (const record of this.#decoder.push(bytes)) {
      if (record.kind === 'event') text += this.#element(dataText(record));
      // A keep-alive stays one: white space between elements has no meaning.
      else if (record.kind !== 'problem') text += SPACE;
    }
    return Buffer.from(text);
  }

  end(): Buffer {
    return Buffer.from(this.#isEmpty ? '[]' : '\n]\n');
  }

  /** Google's separators, on which some clients split. */
  #element(json: string): string {
    const before = this.#isEmpty ? '[' : '\n,\r\n';
    this.#isEmpty = false;
    return before + json;
  }
}
