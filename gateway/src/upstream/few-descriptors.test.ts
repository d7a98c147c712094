/** Tests that a lack of file descriptors is not taken for a failure of the provider, and that reserved ones are used. */
import { expect, test } from 'bun:test';
import { runWithFewDescriptors } from '../../test/harness/few-descriptors.ts';

/** Dials a name with several addresses, where a server listens, while only so many reserved descriptors are left. */
function dialWithSpares(spares: number, origin = 'origin'): string {
  const script = `
    import { keepSpareDescriptors } from '${import.meta.dirname}/../lib/open-files.ts';
    import { parseBaseUrl } from '${import.meta.dirname}/connection.ts';
    import { dial } from '${import.meta.dirname}/dial.ts';
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const { origin } = parseBaseUrl('http://localhost:' + server.port);
    keepSpareDescriptors(${spares});
    fill();
    dial(${origin}, (outcome) => {
      console.log(outcome.kind ?? 'connected', outcome.message ?? '');
      process.exit(0);
    });
  `;
  return runWithFewDescriptors(script, 64).output.trim();
}

test('a name with several addresses is connected to with reserved descriptors', () => {
  expect(dialWithSpares(8)).toBe('connected');
});

test('without any, the gateway lacks descriptors; nothing is said of the provider', () => {
  expect(dialWithSpares(0)).toStartWith('no_descriptor ');
});

test('neither can a name be looked up without any that must have public addresses', () => {
  const entered = "{ ...parseBaseUrl('http://entered.example').origin, publicOnly: true }";
  expect(dialWithSpares(0, entered)).toStartWith('no_descriptor ');
});
