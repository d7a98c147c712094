/** Plays an SMTP server on this machine: plain, with STARTTLS or within TLS; also one that refuses, hangs or dies. */
import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../upstream/testing/certificate.ts';

export interface FakeSmtpPlan {
  readonly encryption?: 'starttls' | 'tls' | 'none';
  /** `user:password`; null: it offers no login. */
  readonly login?: string | null;
  /** The reply to a recipient; null: it takes them. */
  readonly recipient?: (address: string) => string | null;
  /** The reply to a whole message. */
  readonly accepted?: () => string;
  /** Says nothing from this command on, or ends the connection in the middle of a message. */
  readonly fault?: 'silent' | 'dies-in-data' | null;
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as they came, with CRLF. */
  readonly data: string;
  readonly isEncrypted: boolean;
  readonly user: string | null;
}

export interface FakeSmtp {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Every line that came outside of messages. */
  readonly lines: readonly string[];
  stop(): void;
}

export async function startFakeSmtp(plan: FakeSmtpPlan = {}): Promise<FakeSmtp> {
  const { encryption = 'none', login = null } = plan;
  const received: ReceivedMail[] = [];
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const secure = (socket: Socket) =>
    new TLSSocket(socket, {
      isServer: true,
      secureContext: createSecureContext({ cert: CERTIFICATE, key: CERTIFICATE_KEY }),
    });

  function serve(socket: Socket, isEncrypted: boolean, greets: boolean): void {
    let [buffered, from, user]: [string, string, string | null] = ['', '', null];
    let to: string[] = [];
    let isData = false;
    const say = (line: string) => void socket.write(`${line}\r\n`);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (;;) {
        const end = isData ? buffered.indexOf('\r\n.\r\n') : buffered.indexOf('\r\n');
        if (isData && plan.fault === 'dies-in-data') return void socket.destroy();
        if (end < 0) return;
        const text = buffered.slice(0, end);
        buffered = buffered.slice(end + (isData ? 5 : 2));
        if (isData) {
          isData = false;
          const reply = plan.accepted?.() ?? '250 taken';
          if (reply.startsWith('2')) received.push({ from, to, data: text, isEncrypted, user });
          to = [];
          say(reply);
        } else if (take(text)) return;
      }
    });
    /** True: the connection goes on elsewhere. */
    function take(line: string): boolean {
      lines.push(line);
      const [verb = '', ...words] = line.split(' ');
      switch (verb.toUpperCase()) {
        case 'EHLO':
          say('250-fake');
          if (encryption === 'starttls' && !isEncrypted) say('250-STARTTLS');
          if (login !== null) say('250-AUTH PLAIN');
          say('250 8BITMIME');
          return false;
        case 'STARTTLS':
          if (encryption !== 'starttls' || isEncrypted) {
            say('502 not here');
            return false;
          }
          say('220 go ahead');
          socket.removeAllListeners('data');
          serve(secure(socket), true, false);
          return true;
        case 'AUTH': {
          const [, name = '', password = ''] = atob(words[1] ?? '').split('\0');
          user = name;
          say(`${name}:${password}` === login ? '235 welcome' : `535 no: ${words[1]} ${password}`);
          return false;
        }
        case 'MAIL':
          from = /<(.*)>/.exec(line)?.[1] ?? '';
          if (plan.fault !== 'silent') say('250 ok');
          return false;
        case 'RCPT': {
          const address = /<(.*)>/.exec(line)?.[1] ?? '';
          const refusal = plan.recipient?.(address) ?? null;
          if (refusal === null) to.push(address);
          say(refusal ?? '250 ok');
          return false;
        }
        case 'DATA':
          isData = true;
          say('354 go');
          return false;
        default:
          say(verb.toUpperCase() === 'QUIT' ? '221 bye' : '500 unknown');
          return false;
      }
    }
    if (greets) say('220 fake ESMTP');
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(encryption === 'tls' ? secure(socket) : socket, encryption === 'tls', true);
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { readonly port: number }).port));
  });
  return {
    ...{ port, received, lines },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
