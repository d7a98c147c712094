/** Owns the bench's upstream: a raw HTTP/1.1 server on loopback that answers with ready-made bytes. Checks little, on purpose. */
import { createMessageReader, type MessageReader } from '../http/message-reader.ts';
import { createOutbox, type Outbox } from '../http/outbox.ts';
import { chooseAnswer } from './choose-answer.ts';
import { burst, PLAIN, renderRefusal } from './replies.ts';
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

function answer(connection: Connection, body: Buffer): void {
  const { outbox } = connection;
  const chosen = chooseAnswer(body.toString('latin1'));
  if ('refusal' in chosen) outbox.send(renderRefusal(chosen.refusal));
  else if (chosen.kind === 'plain') outbox.send(PLAIN);
  else if (chosen.kind === 'burst') outbox.send(burst(chosen.withUsage));
  else if (chosen.kind === 'slow') connection.stream = writeSlow(outbox);
  else if (chosen.kind === 'endless') connection.stream = writeEndless(outbox);
  else {
    connection.stream = writePaced(outbox, chosen.withUsage, () => {
      connection.stream = null;
    });
  }
}

function openConnection(socket: { write(bytes: Uint8Array): number }): Connection {
  const pieces: Buffer[] = [];
  const reader = createMessageReader(
    {
      onHead: () => {},
      onBody: (bytes) => {
        pieces.push(Buffer.from(bytes));
      },
      onEnd: () => {
        const [first] = pieces;
        const body = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
        pieces.length = 0;
        answer(connection, body);
      },
    },
    'empty',
  );
  const connection: Connection = { reader, outbox: createOutbox(socket), stream: null };
  return connection;
}

/** Starts the upstream on 127.0.0.1; port 0 takes a free one. Throws where the port is taken. */
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
