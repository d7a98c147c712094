/**
 * Tests that a host is accepted only if all of its addresses are public, and that each connection checks this again.
 */
import { expect, test } from 'bun:test';
import { parseBaseUrl, type UpstreamFailure } from './connection.ts';
import { dial, findPublicAddress, PrivateAddressError, rememberPrivateHosts } from './dial.ts';

test('the first of several public addresses is used', async () => {
  expect(await findPublicAddress('a.example', async () => ['1.1.1.1', '2606:4700::1111'])).toBe('1.1.1.1');
  expect(await findPublicAddress('9.9.9.9')).toBe('9.9.9.9');
});

test.each([[['127.0.0.1']], [['1.1.1.1', '169.254.169.254']], [['2606:4700::1111', '::1']], [['fe80::1%eth0']], [[]]])(
  'a name with the addresses %p is refused',
  async (addresses) => {
    await expect(findPublicAddress('a.example', async () => addresses)).rejects.toBeInstanceOf(PrivateAddressError);
  },
);

test('a literal address needs no lookup', async () => {
  const never = () => Promise.reject(new Error('looked up'));
  await expect(findPublicAddress('10.0.0.1', never)).rejects.toBeInstanceOf(PrivateAddressError);
});

test('a host that was private stays so while its name cannot be resolved, and another one counts as public', async () => {
  let nowMs = 0;
  let addresses: readonly string[] | null = ['10.0.0.1'];
  const isPrivateHost = rememberPrivateHosts(
    async () => addresses ?? Promise.reject(new Error('ESERVFAIL')),
    () => nowMs,
  );
  const ask = async () => [await isPrivateHost('models.internal'), nowMs];
  expect(await ask()).toEqual([true, 0]);
  addresses = null;
  for (nowMs of [59_999, 60_001, 300_000]) expect(await ask()).toEqual([true, nowMs]);
  expect(await isPrivateHost('other.example')).toBe(false);
  addresses = ['1.1.1.1'];
  nowMs = 400_000;
  expect(await ask()).toEqual([false, nowMs]);
});

test('a host that must be public is not connected to once its name resolves to this machine', async () => {
  let arrived = 0;
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open() {
        arrived += 1;
      },
      data() {},
    },
  });
  const { origin } = parseBaseUrl(`http://localhost:${server.port}`);
  const outcome = await new Promise<unknown>((resolve) => dial({ ...origin, publicOnly: true }, resolve));
  server.stop(true);
  expect((outcome as UpstreamFailure).kind).toBe('connect');
  expect((outcome as UpstreamFailure).message).toContain('not public');
  expect(arrived).toBe(0);
});
