/** Tests the addresses that must not be reachable through the console, and where a stored credential may stay. */
import { expect, test } from 'bun:test';
import { checkConsoleAddress, enteredAddress, findConsoleKind, isMoved } from './console-providers.ts';
import { parseBaseUrl } from './file/scalar-schema.ts';

function isTaken(text: string, privateOrigins: readonly string[] = []): boolean {
  const address = parseBaseUrl(text);
  return !('found' in address) && checkConsoleAddress(address, privateOrigins) === null;
}

test.each([
  'http://api.example.com/v1',
  'https://127.0.0.1/v1',
  'https://0x7f.1/v1',
  'https://2130706433/v1',
  'https://0177.0.0.1/v1',
  'https://127.1/v1',
  'https://127。0。0。1/v1',
  'https://１２７.0.0.1/v1',
  'https://[::1]/v1',
  'https://[::ffff:127.0.0.1]/v1',
  'https://[::ffff:7f00:1]/v1',
  'https://[fd00:ec2::254]/v1',
  'https://[fe80::1]/v1',
  'https://[64:ff9b::7f00:1]/v1',
  'https://10.0.0.1/v1',
  'https://192.168.0.10:8443/v1',
  'https://100.100.100.200/latest',
  'https://169.254.169.254/latest/meta-data',
  'http://169.254.169.254/latest/meta-data',
  'https://metadata.google.internal/v1',
  'https://localhost/v1',
  'https://localhost./v1',
  'https://LOCALHOST/v1',
  'https://a.localhost/v1',
  'https://printer.local/v1',
  'https://intranet/v1',
  'https://router/v1',
  'https://evil.example#.openai.azure.com/v1',
  'https://evil.example?.openai.azure.com/v1',
  'https://api.example.com@evil.example/v1',
  'https://evil.example\\@api.example.com/v1',
  'https://evil.example\\.openai.azure.com/v1',
  'https:evil.example/v1',
  'https:///evil.example/v1',
  'https://api.example.com/v1\r\nhost: evil.example',
  'https://api.example .com/v1',
  'ftp://api.example.com/v1',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'gopher://127.0.0.1:6379/_SET',
  'unix:/var/run/docker.sock',
  '//api.example.com/v1',
  '',
])('%s is refused', (text) => {
  expect(isTaken(text)).toBe(false);
});

test.each([
  'https://api.openai.com/v1',
  'https://api.example.com:8443/some/path/v1',
  'https://1.1.1.1/v1',
  'https://[2606:4700::1111]/v1',
])('%s is accepted', (text) => {
  expect(isTaken(text)).toBe(true);
});

test('an origin listed in the file is accepted exactly', () => {
  const written = ['http://127.0.0.1:9100', 'https://10.0.0.7'];
  expect(isTaken('http://127.0.0.1:9100/v1', written)).toBe(true);
  expect(isTaken('https://10.0.0.7/any/path', written)).toBe(true);
  expect(isTaken('http://127.0.0.1:9101/v1', written)).toBe(false);
  expect(isTaken('https://127.0.0.1:9100/v1', written)).toBe(false);
  expect(isTaken('http://10.0.0.7/v1', written)).toBe(false);
});

const place = (baseUrl: string, settings: Readonly<Record<string, string>> = {}) => ({ baseUrl, settings });
const kindOf = (name: string) => {
  const kind = findConsoleKind(name);
  if (kind === undefined) throw new Error(`the console has no kind ${name}`);
  return kind;
};

test.each([
  ['openai', place('https://api.openai.com/v1'), null],
  ['openai', place('https://proxy.example/v1'), 'https://proxy.example/v1'],
  ['bedrock', place('https://bedrock-runtime.us-east-1.amazonaws.com', { region: 'us-east-1' }), null],
  [
    'bedrock',
    place('https://bedrock-runtime.us-east-1.amazonaws.com', { region: 'us-east-2' }),
    'https://bedrock-runtime.us-east-1.amazonaws.com',
  ],
  // The same requests go there.
  ['azure', place('https://acme.openai.azure.com/openai/v1', { resource: 'acme' }), null],
  ['openai-compatible', place('https://host.example/v1'), 'https://host.example/v1'],
])('of %s at %j, %p was entered', (kind, one, entered) => {
  expect(enteredAddress(kindOf(kind), one)).toBe(entered);
});

const AZURE = 'https://acme.openai.azure.com';

test.each([
  ['openai', place('https://a.example/v1'), place('https://a.example/v1'), false],
  ['openai', place('https://a.example/v1'), place('https://b.example/v1'), true],
  ['openai', place('https://a.example/v1'), place('https://a.example:8443/v1'), true],
  ['openai', place('https://a.example/v1'), place('https://a.example/other-tenant/v1'), true],
  ['azure', place(AZURE, { resource: 'acme' }), place(AZURE, { resource: 'acme', api_version: 'preview' }), false],
  ['azure', place(AZURE, { resource: 'acme' }), place(`${AZURE}/openai/v1`, { resource: 'acme' }), false],
  ['azure', place(AZURE, { resource: 'acme' }), place(AZURE, { resource: 'other' }), false],
  // Claude would now go to another host: that of the resource.
  ['azure', place(AZURE, { resource: 'other' }), place(AZURE, { resource: 'acme' }), true],
])('%s from %j to %j needs its credentials again: %p', (kind, from, to, moves) => {
  expect(isMoved(kindOf(kind), from, to)).toBe(moves);
});
