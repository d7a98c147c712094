/**
 * Runs the bench's upstream: a raw HTTP/1.1 server on loopback that answers with prepared bytes. Checks little, on
 * purpose.
 */
import { createMessageReader, type MessageReader } from '../http/message-reader.ts';
import { createOutbox, type Outbox } from '../http/outbox.ts';
import { CALL_PATH, type Protocol } from '../protocol.ts';
import { CHAT_REPLIES } from './chat-replies.ts';
import { chooseAnswer } from './choose-answer.ts';
import { MESSAGES_REPLIES } from './messages-replies.ts';
import type { Replies } from './replies.ts';
import { RESPONSES_REPLIES } from './responses-replies.ts';
import { type RunningStream, writeEndless, writePaced, writeSlow } from './write-stream.ts';

interface Connection {
  readonly reader: MessageReader;
  readonly outbox: Outbox;
  stream: RunningStream | null;
}

export interface Upstream {
  readonly port: number;
  stop(): void;
}

const REPLIES: Readonly<Record<Protocol, Replies>> = {
  chat: CHAT_REPLIES,
  messages: MESSAGES_REPLIES,
  responses: RESPONSES_REPLIES,
};

/** The format of the request's path; chat for every path except those of the other formats. */
function chooseProtocol(head: string): Protocol {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/')).split('?')[0];
  if (path === CALL_PATH.messages) return 'messages';
  return path === CALL_PATH.responses ? 'responses' : 'chat';
}

function answer(connection: Connection, replies: Replies, body: Buffer): void {
  const { outbox } = connection;
  const chosen = chooseAnswer(body.toString('latin1'));
  if ('refusal' in chosen) outbox.send(replies.renderRefusal(chosen.refusal));
  else if (chosen.kind === 'plain') outbox.send(replies.plain);
  else if (chosen.kind === 'burst') outbox.send(replies.burst(chosen.withUsage));
  else if (chosen.kind === 'limited') outbox.send(replies.limited);
  else if (chosen.kind === 'slow') connection.stream = writeSlow(outbox, replies);
  else if (chosen.kind === 'endless') connection.stream = writeEndless(outbox, replies);
  else {
    connection.stream = writePaced(outbox, replies, chosen.withUsage, () => {
      connection.stream = null;
    });
  }
}

function openConnection(socket: { write(bytes: Uint8Array): number }): Connection {
  const pieces: Buffer[] = [];
  let replies = CHAT_REPLIES;
  const reader = createMessageReader(
    {
      onHead: (head) => {
        replies = REPLIES[chooseProtocol(head)];
      },
      onBody: (bytes) => {
        pieces.push(Buffer.from(bytes));
      },
      onEnd: () => {
        const [first] = pieces;
        const body = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
        pieces.length = 0;
        answer(connection, replies, body);
      },
    },
    'empty',
  );
  const connection: Connection = { reader, outbox: createOutbox(socket), stream: null };
  return connection;
}

/** Starts the upstream on 127.0.0.1; port 0 chooses a free one. Throws when the port is taken. */
export function startUpstream(port: number): Upstream {
  const listener = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.data = openConnection(socket);
      },
      data(socket, bytes) {
        try {
          socket.data.reader.push(bytes);
        } catch (error) {
          process.stderr.write(`bench upstream: closed a connection: ${String(error)}\n`);
          socket.terminate();
        }
      },
      drain(socket) {
        socket.data.outbox.flush();
        if (socket.data.outbox.isEmpty) socket.data.stream?.onDrained();
      },
      close(socket) {
        socket.data.stream?.stop();
      },
      error(socket, error) {
        process.stderr.write(`bench upstream: closed a connection: ${error.message}\n`);
        socket.terminate();
      },
    },
  });
  return { port: listener.port, stop: () => listener.stop(true) };
}
