/** Tests the reading of trace contexts, hostile ones included, and what is passed on. */
import { expect, test } from 'bun:test';
import { checkTracestate, openTrace, parseTraceparent, traceHeaders } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;

test('a valid parent is read, whatever its further flags and version', () => {
  const parent = { traceId: TRACE, parentId: SPAN, sampled: true };
  expect(parseTraceparent(PARENT)).toEqual(parent);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)).toEqual(parent);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...parent, sampled: false });
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what the future brings`)).toEqual(parent);
});

test.each([
  '',
  'x',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  ` ${PARENT}`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`,
  `00-${TRACE}-${SPAN}-01\r\nx: y`,
])('%j is no parent', (text) => {
  expect(parseTraceparent(text)).toBeNull();
});

test('a list of states is passed on without its spaces, or not at all', () => {
  expect(checkTracestate('rojo=00f067aa0ba902b7, congo=t61rcWkgMzE')).toBe('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
  expect(checkTracestate('fw529a3039@dt=FfffffffX')).toBe('fw529a3039@dt=FfffffffX');
  expect(checkTracestate('a=1,,b=2')).toBe('a=1,b=2');
  for (const bad of ['a', 'A=1', 'a=1,a=2', 'a=\u0001', 'a=é', 'a=1=2', '=1', `a=${'x'.repeat(600)}`]) {
    expect(checkTracestate(bad)).toBe('');
  }
  expect(checkTracestate(Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(','))).toBe('');
});

test('where nothing is traced, only a client with a trace has a context', () => {
  expect(openTrace(new Headers(), null)).toBeNull();
  expect(openTrace(new Headers({ traceparent: 'junk', tracestate: 'a=1' }), null)).toBeNull();
  const context = openTrace(new Headers({ traceparent: PARENT, tracestate: 'a=1', baggage: 'user=me' }), null);
  expect(context).toMatchObject({ traceId: TRACE, parentId: SPAN, sampled: true, state: 'a=1' });
});

test('a new trace begins with ids of its own, and never takes a state without its parent', () => {
  const one = openTrace(new Headers({ tracestate: 'a=1' }), () => true);
  const other = openTrace(new Headers(), () => false);
  expect(one).toMatchObject({ parentId: null, sampled: true, state: '' });
  expect(one?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(one?.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(other?.traceId).not.toBe(one?.traceId);
  expect(other?.sampled).toBe(false);
});

test('an attempt names its own span, and no baggage', () => {
  const context = openTrace(new Headers({ traceparent: PARENT, tracestate: 'a=1', baggage: 'user=me' }), null);
  if (context === null) throw new Error('no context');
  expect(traceHeaders(context, '1234567890abcdef')).toEqual([
    ['traceparent', `00-${TRACE}-1234567890abcdef-01`],
    ['tracestate', 'a=1'],
  ]);
});
