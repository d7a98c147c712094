/** Tests fit-order.ts: messages with lists of parts, and names. Hosts that need it: test/conformance/hosts/requests.test.ts. */
import { expect, test } from 'bun:test';
import { COMPATIBLE } from '../../../providers/kinds/openai-compatible.ts';
import { fitOrder } from './fit-order.ts';

const STRICT = { ...COMPATIBLE, strictTurns: true };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
const text = (words: string) => ({ type: 'text', text: words });

test('messages in a row keep their images, and late instructions their parts', () => {
  const messages = [
    { role: 'user', content: 'Look:' },
    { role: 'user', content: [image] },
    { role: 'system', content: [text('Be exact.'), text('Be brief.')] },
  ];
  const content = [text('Look:'), image, text('<system>Be exact.</system>'), text('<system>Be brief.</system>')];
  expect(fitOrder(messages, STRICT)).toEqual([{ role: 'user', content }]);
});

test('messages of users with different names stay apart, and so do answers', () => {
  const messages = [
    { role: 'user', name: 'ann', content: 'One' },
    { role: 'user', name: 'bob', content: 'Two' },
    { role: 'assistant', content: 'Three' },
    { role: 'assistant', content: 'Four' },
  ];
  expect(fitOrder(messages, STRICT)).toEqual(messages);
  expect(fitOrder(messages, COMPATIBLE)).toBe(messages);
});
