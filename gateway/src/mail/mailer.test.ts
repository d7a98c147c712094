/** Tests that messages reach the SMTP server as they are meant, or not at all, whatever is in them. */
import { afterEach, expect, test } from 'bun:test';
import type { SmtpConfig } from '../config/config.ts';
import { Secret } from '../lib/secret.ts';
import { CERTIFICATE } from '../upstream/testing/certificate.ts';
import { createMailer, type Mail } from './mailer.ts';
import { type FakeSmtpPlan, startFakeSmtp } from './testing/fake-smtp.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const MAIL: Mail = {
  to: ['ada@example.com', 'bob@example.com'],
  subject: 'Daily budget of key prod reached 80%',
  paragraphs: ['Daily budget of key prod reached 80%.'],
  link: { label: 'Raise budget', url: 'https://gate.test/app/keys/prod?a=1&b=2' },
  footer: 'Sent for the alert Budget.',
  id: 'dlv_1',
  createdAtMs: Date.UTC(2026, 10, 24),
};
const PASSWORD = 'p4ss-w0rd-0f-th3-m41l';

async function rig(plan: FakeSmtpPlan, changes: Partial<SmtpConfig> = {}, ca: string | null = CERTIFICATE) {
  const fake = await startFakeSmtp(plan);
  stops.push(fake.stop);
  const { encryption = 'none' } = plan;
  const smtp = { host: 'localhost', port: fake.port, encryption, login: null, from: 'gate@example.com', ...changes };
  const server = { smtp, publicUrl: 'https://gate.test' };
  // Only a silent server takes all of the time.
  const options = { ...(plan.fault === 'silent' && { timeoutMs: 500 }), ...(ca !== null && { ca }) };
  return { ...fake, send: createMailer(() => server, options) };
}
const withLogin = { login: { user: 'gate', password: new Secret(PASSWORD) } };

test('a message is text and HTML, with a Message-ID that stays', async () => {
  const { send, received } = await rig({});
  expect(await send(MAIL)).toEqual({ isSent: true, problem: null });
  await send(MAIL);
  expect(received[0]).toMatchObject({ from: 'gate@example.com', to: MAIL.to, isEncrypted: false, user: null });
  for (const { data } of received) {
    expect(data).toContain('\r\nMessage-ID: <dlv_1@example.com>\r\n');
    expect(data).toContain('From: Tollgate <gate@example.com>\r\n');
    expect(data).toContain('Date: Tue, 24 Nov 2026 00:00:00 +0000\r\n');
    expect(data).toContain('Raise budget:\r\nhttps://gate.test/app/keys/prod?a=');
    expect(data).toContain('text/html');
  }
});

test('the login is sent within TLS only, from the start or by STARTTLS', async () => {
  for (const encryption of ['starttls', 'tls'] as const) {
    const { send, received, lines } = await rig({ encryption, login: `gate:${PASSWORD}` }, withLogin);
    expect(await send(MAIL)).toEqual({ isSent: true, problem: null });
    expect(received).toMatchObject([{ isEncrypted: true, user: 'gate' }]);
    const names = lines.map((line) => line.split(' ')[0]);
    expect(names.includes('STARTTLS')).toBe(encryption === 'starttls');
    expect(names.lastIndexOf('STARTTLS')).toBeLessThan(names.indexOf('AUTH'));
  }
});

test('nothing is sent to a server with another certificate, another name, or without STARTTLS', async () => {
  for (const encryption of ['starttls', 'tls'] as const) {
    const untrusted = await rig({ encryption, login: `gate:${PASSWORD}` }, withLogin, null);
    const renamed = await rig({ encryption, login: `gate:${PASSWORD}` }, { ...withLogin, host: '127.0.0.1' });
    for (const { send, received, lines } of [untrusted, renamed]) {
      expect((await send(MAIL)).isSent).toBe(false);
      expect(received).toEqual([]);
      expect(lines.join()).not.toContain('AUTH');
    }
  }
  const plain = await rig({ login: `gate:${PASSWORD}` }, { ...withLogin, encryption: 'starttls' });
  expect((await plain.send(MAIL)).isSent).toBe(false);
  expect(plain.lines.join()).not.toMatch(/AUTH|MAIL/);
});

test.each([PASSWORD, 'pä55wört-€-密码'])(
  'a wrong password is named without it, also where the server repeats it: %s',
  async (password) => {
    const login = { user: 'gate', password: new Secret(password) };
    const { send } = await rig({ encryption: 'starttls', login: 'gate:other' }, { login });
    const { isSent, problem } = await send(MAIL);
    expect(isSent).toBe(false);
    expect(problem).toStartWith('localhost: ');
    expect(problem).toContain('535');
    expect(problem).not.toContain(password);
    expect(problem).not.toContain(Buffer.from(`\0gate\0${password}`).toString('base64'));
  },
);

test('a server that is silent, dies within the message or is not there is a problem, in time', async () => {
  for (const fault of ['silent', 'dies-in-data'] as const) {
    const { send, received } = await rig({ fault });
    expect((await send(MAIL)).isSent).toBe(false);
    expect(received).toEqual([]);
  }
  const { stop, send } = await rig({});
  stop();
  const { isSent, problem } = await send(MAIL);
  expect(isSent).toBe(false);
  expect(problem).toContain('localhost: ');
});

test('a recipient refused for good keeps no other from the message; one refused for now is tried again', async () => {
  const refuse = (reply: string) => (address: string) => (address.startsWith('bob') ? reply : null);
  const forGood = await rig({ recipient: refuse('550 no such user') });
  const { isSent, problem } = await forGood.send(MAIL);
  expect(isSent).toBe(true);
  expect(problem).toContain('550 no such user');
  expect(forGood.received).toMatchObject([{ to: ['ada@example.com'] }]);
  const forNow = await rig({ recipient: refuse('451 later') });
  expect((await forNow.send(MAIL)).isSent).toBe(false);
  const none = await rig({ recipient: () => '550 no' });
  expect((await none.send(MAIL)).isSent).toBe(false);
  const refused = await rig({ accepted: () => '554 spam' });
  expect(await refused.send(MAIL)).toMatchObject({ isSent: false, problem: expect.stringContaining('554 spam') });
});

test('a message that is sent again goes to those only who do not have it yet', async () => {
  let reply: string | null = '451 later';
  const { send, received } = await rig({ recipient: (address) => (address.startsWith('bob') ? reply : null) });
  const other = { ...MAIL, id: 'dlv_2' };
  for (let round = 0; round < 2; round += 1) expect((await send(MAIL)).isSent).toBe(false);
  expect((await send(other)).isSent).toBe(false);
  expect(received.map(({ to }) => to)).toEqual([['ada@example.com'], ['ada@example.com']]);
  reply = null;
  expect(await send(MAIL)).toEqual({ isSent: true, problem: null });
  expect(received.at(-1)?.to).toEqual(['bob@example.com']);
  expect(received.at(-1)?.data).toContain('To: ada@example.com, bob@example.com\r\n');
  // No recipient is left who could get it.
  reply = '550 no such user';
  expect(await send(other)).toEqual({ isSent: true, problem: expect.stringContaining('550 no such user') });
  expect(received).toHaveLength(3);
});

test('no text adds a header, a recipient, a command or markup', async () => {
  const evil = 'x\r\nBcc: eve@evil.test\r\n\r\n.\r\nRCPT TO:<eve@evil.test>\r\n<script>alert(1)</script>"\'';
  const { send, received, lines } = await rig({});
  const link = { label: evil, url: `https://gate.test/"><img src=x>` };
  await send({ ...MAIL, subject: evil, paragraphs: [evil], link, footer: evil });
  const [mail] = received;
  expect(received).toHaveLength(1);
  expect(mail?.to).toEqual(MAIL.to);
  expect(lines.filter((line) => /eve/.test(line))).toEqual([]);
  const [headers = ''] = mail?.data.split('\r\n\r\n') ?? [];
  expect(headers).not.toMatch(/^bcc/im);
  const [, html] = mail?.data.split('Content-Type: text/html') ?? [];
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toMatch(/<script|<img/);
});
