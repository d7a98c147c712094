/** Tests that a gateway emails an alert through its configured mail server, again under the same Message-ID. */
import { expect, test } from 'bun:test';
import { type FakeSmtpPlan, startFakeSmtp } from '../../src/mail/testing/fake-smtp.ts';
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';

test('an alert is emailed to its recipients, also where the server first refuses it for now', async () => {
  const replies = ['451 later'];
  const plan: FakeSmtpPlan = { accepted: () => replies.shift() ?? '250 taken' };
  const smtp = await startFakeSmtp(plan);
  const gateway = await startGateway({
    config: {
      server: {
        public_url: 'https://gate.test',
        smtp: { host: '127.0.0.1', port: smtp.port, encryption: 'none', from: 'gate@example.com' },
      },
    },
  });
  try {
    const words = ['--event', 'ledger_trouble', '--channel', 'email', '--to', 'ada@example.com', 'bob@example.com'];
    const made = await gateway.run('alerts', 'create', 'Trouble', '--json', ...words);
    const { id } = JSON.parse(made.stdout);
    await gateway.run('alerts', 'test', id);
    const mail = await eventually('the email', () => smtp.received[0] ?? null, 60_000);
    expect(mail).toMatchObject({ from: 'gate@example.com', to: ['ada@example.com', 'bob@example.com'] });
    expect(mail.data).toContain('This is a test of the alert Trouble.');
    expect(smtp.lines.filter((line) => line === 'DATA')).toHaveLength(2);
    const read = async () => JSON.parse((await gateway.run('alerts', 'deliveries', id, '--json')).stdout);
    const delivery = await eventually(
      'its result',
      async () => {
        const one = await read();
        return one.status === 'delivered' ? one : null;
      },
      30_000,
    );
    expect(delivery).toMatchObject({ attempts: 2, error: null });
    expect(mail.data).toContain(`Message-ID: <${delivery.id}@example.com>`);
  } finally {
    await gateway.stop();
    smtp.stop();
  }
}, 120_000);
