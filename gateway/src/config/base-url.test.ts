/** Tests which addresses an operator may write, and that none leads to another host than it shows. */
import { describe, expect, test } from 'bun:test';
import { parseBaseUrl } from './file/scalar-schema.ts';

describe('parseBaseUrl', () => {
  test.each([
    ['https://api.example.com/v1', 'https://api.example.com/v1', 'https://api.example.com'],
    ['https://api.example.com/v1/', 'https://api.example.com/v1', 'https://api.example.com'],
    ['https://api.example.com', 'https://api.example.com', 'https://api.example.com'],
    ['https://API.example.com:443/V1', 'https://api.example.com/V1', 'https://api.example.com'],
    ['http://127.0.0.1:9100/v1', 'http://127.0.0.1:9100/v1', 'http://127.0.0.1:9100'],
    ['http://[::1]:8000', 'http://[::1]:8000', 'http://[::1]:8000'],
    ['http://ollama:80/v1', 'http://ollama/v1', 'http://ollama'],
  ])('%s is accepted as written', (text, url, origin) => {
    expect(parseBaseUrl(text)).toEqual({ url, origin });
  });

  test.each([
    ['http://0x7f.1/v1', "another spelling of the host '127.0.0.1'"],
    ['http://2130706433', "another spelling of the host '127.0.0.1'"],
    ['http://127.1', "another spelling of the host '127.0.0.1'"],
    ['https://api．example．com', "another spelling of the host 'api.example.com'"],
    ['https://api。example。com', "another spelling of the host 'api.example.com'"],
    ['https://%61pi.example.com', "another spelling of the host 'api.example.com'"],
    ['https://user:hunter2@api.example.com', 'an address with @ in it'],
    ['https://api.example.com?x=1', 'an address with a query or fragment'],
    ['https://httpbin.org#.openai.azure.com', 'an address with a query or fragment'],
    ['https:/api.example.com', 'text that is not an http:// or https:// address'],
    ['https://api.example.com\\v1', 'text that is not an http:// or https:// address'],
    ['ftp://api.example.com', 'text that is not an http:// or https:// address'],
    ['api.example.com/v1', 'text that is not an http:// or https:// address'],
    ['https://api.example.com/v1 ', 'text that is not an http:// or https:// address'],
    ['https://a b', 'text that is not an http:// or https:// address'],
    ['https://x:99999', 'text that is not an http:// or https:// address'],
    ['', 'text that is not an http:// or https:// address'],
  ])('%s is refused', (text, found) => {
    expect(parseBaseUrl(text)).toMatchObject({ found });
  });

  test('a refusal never repeats a credential', () => {
    expect(JSON.stringify(parseBaseUrl('https://user:hunter2@api.example.com'))).not.toContain('hunter2');
  });
});
