/** Tests surroundings.ts: which addresses a credential source reaches, and where its warnings go. */
import { expect, test } from 'bun:test';
import { isTrustedForCredentials, SURROUNDINGS, setCredentialWarnings } from './surroundings.ts';

test.each([
  ['http://169.254.169.254', true],
  ['http://169.254.170.2', true],
  ['http://[fd00:ec2::23]', true],
  ['http://127.0.0.1:8080', true],
  ['http://localhost:1338', true],
  ['https://sts.eu-central-1.amazonaws.com', true],
  ['https://sts.cn-north-1.amazonaws.com.cn', true],
  ['https://sts.eu-central-1.amazonaws.com.evil.example', false],
  ['https://sts.a.b.amazonaws.com', false],
  ['http://sts.eu-central-1.amazonaws.com', false],
  ['http://169.254.169.253', false],
  ['http://10.0.0.1', false],
  ['http://127.evil.example', false],
  ['https://127.0.0.1', false],
])('%s: may be private or http: %p', (origin, trusted) => {
  expect(isTrustedForCredentials(origin)).toBe(trusted);
});

test('reaches this machine, and no other over http', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('here') });
  try {
    const answer = await SURROUNDINGS.fetch(`http://127.0.0.1:${server.port}/keys`);
    expect(await answer.text()).toBe('here');
  } finally {
    await server.stop(true);
  }
  await expect(SURROUNDINGS.fetch('http://192.0.2.1/keys')).rejects.toThrow('is not https');
});

test('warns where the process says', () => {
  const heard: string[] = [];
  setCredentialWarnings((message) => heard.push(message));
  SURROUNDINGS.warn('soon expired');
  setCredentialWarnings(() => undefined);
  SURROUNDINGS.warn('again');
  expect(heard).toEqual(['soon expired']);
});
