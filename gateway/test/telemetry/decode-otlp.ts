/**
 * Decodes OTLP exports as strictly as a collector may: every field must be known and of its wire type, and values must keep
 * the rules of the protocol (https://github.com/open-telemetry/opentelemetry-proto, v1, read 2026-11-23).
 */

type Scalar = 'string' | 'bytes' | 'varint' | 'fixed64' | 'fixed32' | 'double';
/** Number → name, type or message, and whether it repeats. */
type Fields = { readonly [number: number]: readonly [name: string, type: string, repeated?: 'repeated' | 'packed'] };

const MESSAGES: { readonly [name: string]: Fields } = {
  TraceRequest: { 1: ['resourceSpans', 'ResourceSpans', 'repeated'] },
  MetricsRequest: { 1: ['resourceMetrics', 'ResourceMetrics', 'repeated'] },
  ResourceSpans: {
    1: ['resource', 'Resource'],
    2: ['scopeSpans', 'ScopeSpans', 'repeated'],
    3: ['schemaUrl', 'string'],
  },
  ResourceMetrics: {
    1: ['resource', 'Resource'],
    2: ['scopeMetrics', 'ScopeMetrics', 'repeated'],
    3: ['schemaUrl', 'string'],
  },
  Resource: { 1: ['attributes', 'KeyValue', 'repeated'], 2: ['droppedAttributesCount', 'varint'] },
  ScopeSpans: { 1: ['scope', 'Scope'], 2: ['spans', 'Span', 'repeated'], 3: ['schemaUrl', 'string'] },
  ScopeMetrics: { 1: ['scope', 'Scope'], 2: ['metrics', 'Metric', 'repeated'], 3: ['schemaUrl', 'string'] },
  Scope: { 1: ['name', 'string'], 2: ['version', 'string'] },
  KeyValue: { 1: ['key', 'string'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['string', 'string'],
    2: ['bool', 'varint'],
    3: ['int', 'varint'],
    4: ['double', 'double'],
    5: ['array', 'ArrayValue'],
  },
  ArrayValue: { 1: ['values', 'AnyValue', 'repeated'] },
  Span: {
    1: ['traceId', 'bytes'],
    2: ['spanId', 'bytes'],
    3: ['traceState', 'string'],
    4: ['parentSpanId', 'bytes'],
    5: ['name', 'string'],
    6: ['kind', 'varint'],
    7: ['startTimeUnixNano', 'fixed64'],
    8: ['endTimeUnixNano', 'fixed64'],
    9: ['attributes', 'KeyValue', 'repeated'],
    10: ['droppedAttributesCount', 'varint'],
    12: ['droppedEventsCount', 'varint'],
    14: ['droppedLinksCount', 'varint'],
    15: ['status', 'Status'],
    16: ['flags', 'fixed32'],
  },
  Status: { 2: ['message', 'string'], 3: ['code', 'varint'] },
  Metric: {
    1: ['name', 'string'],
    2: ['description', 'string'],
    3: ['unit', 'string'],
    5: ['gauge', 'Gauge'],
    7: ['sum', 'Sum'],
    9: ['histogram', 'Histogram'],
  },
  Gauge: { 1: ['dataPoints', 'NumberDataPoint', 'repeated'] },
  Sum: {
    1: ['dataPoints', 'NumberDataPoint', 'repeated'],
    2: ['aggregationTemporality', 'varint'],
    3: ['isMonotonic', 'varint'],
  },
  Histogram: { 1: ['dataPoints', 'HistogramDataPoint', 'repeated'], 2: ['aggregationTemporality', 'varint'] },
  NumberDataPoint: {
    2: ['startTimeUnixNano', 'fixed64'],
    3: ['timeUnixNano', 'fixed64'],
    4: ['asDouble', 'double'],
    7: ['attributes', 'KeyValue', 'repeated'],
  },
  HistogramDataPoint: {
    2: ['startTimeUnixNano', 'fixed64'],
    3: ['timeUnixNano', 'fixed64'],
    4: ['count', 'fixed64'],
    5: ['sum', 'double'],
    6: ['bucketCounts', 'fixed64', 'packed'],
    7: ['explicitBounds', 'double', 'packed'],
    9: ['attributes', 'KeyValue', 'repeated'],
  },
};

const WIRE_TYPES: { readonly [type: string]: number } = { varint: 0, fixed64: 1, double: 1, fixed32: 5 };

// A decoded message is a tree of unknown shape until a test reads it.
export type Decoded = { readonly [name: string]: never };

/** Throws an Error that names the message and field. */
export function decodeOtlp(request: 'TraceRequest' | 'MetricsRequest', body: Uint8Array): Decoded {
  const decoded = decode(request, body);
  check(request, decoded);
  return decoded as Decoded;
}

type Tree = { [name: string]: unknown };

function decode(message: string, body: Uint8Array): Tree {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const tree: Tree = {};
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      if (at >= body.length || shift > 63n) throw new Error(`${message}: a broken varint`);
      const byte = body[at++] ?? 0;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  };
  const scalar = (type: Scalar, end: number): unknown => {
    if (at + 4 > body.length) throw new Error(`${message}: cut off`);
    if (type === 'fixed32') {
      at += 4;
      return view.getUint32(at - 4, true);
    }
    if (at + 8 > end) throw new Error(`${message}: cut off`);
    at += 8;
    return type === 'double' ? view.getFloat64(at - 8, true) : view.getBigUint64(at - 8, true);
  };
  while (at < body.length) {
    const tag = Number(varint());
    const [name, type, repeated] = MESSAGES[message]?.[tag >> 3] ?? [];
    if (name === undefined || type === undefined) throw new Error(`${message}: the unknown field ${tag >> 3}`);
    const wire = repeated === 'packed' ? 2 : (WIRE_TYPES[type] ?? 2);
    if ((tag & 7) !== wire) throw new Error(`${message}.${name}: wire type ${tag & 7}, not ${wire}`);
    let value: unknown;
    if (wire === 2) {
      const end = Number(varint()) + at;
      if (end > body.length) throw new Error(`${message}.${name}: cut off`);
      const bytes = body.subarray(at, end);
      if (repeated === 'packed') {
        const values: unknown[] = [];
        while (at < end) values.push(scalar(type as Scalar, end));
        value = values;
      } else if (type === 'string') value = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      else value = type === 'bytes' ? Buffer.from(bytes).toString('hex') : decode(type, bytes);
      at = end;
    } else value = type === 'varint' ? varint() : scalar(type as Scalar, body.length);
    if (repeated === 'repeated') {
      tree[name] ??= [];
      (tree[name] as unknown[]).push(value);
    } else if (name in tree) throw new Error(`${message}.${name}: twice`);
    else tree[name] = value;
  }
  return tree;
}

/** Replaces attributes by a plain object, and checks values on the way down. */
function check(message: string, tree: Tree): void {
  for (const [, [name, type]] of Object.entries(MESSAGES[message] ?? {})) {
    if (!(type in MESSAGES) || tree[name] === undefined) continue;
    for (const one of [tree[name]].flat()) check(type, one as Tree);
  }
  const attributes = tree.attributes as { key: string; value: Tree }[] | undefined;
  if (attributes !== undefined) {
    const keys = attributes.map(({ key }) => key);
    demand(keys.every((key) => key !== '') && new Set(keys).size === keys.length, message, 'keys not unique');
    tree.attributes = Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
  }
  if (message === 'Span') {
    demand(/^(?!0+$)[0-9a-f]{32}$/.test(String(tree.traceId)), message, 'traceId');
    demand(/^(?!0+$)[0-9a-f]{16}$/.test(String(tree.spanId)), message, 'spanId');
    demand(
      tree.parentSpanId === undefined || /^(?!0+$)[0-9a-f]{16}$/.test(String(tree.parentSpanId)),
      message,
      'parent',
    );
    demand(tree.name !== undefined && tree.name !== '', message, 'name');
    demand((tree.endTimeUnixNano as bigint) >= (tree.startTimeUnixNano as bigint), message, 'its end before its start');
  }
  if (message === 'Metric') {
    demand(['gauge', 'sum', 'histogram'].filter((kind) => kind in tree).length === 1, message, 'one kind of data');
  }
  if (message === 'Sum' || message === 'Histogram')
    demand(tree.aggregationTemporality === 2n, message, 'not cumulative');
  if (message === 'HistogramDataPoint') {
    const counts = tree.bucketCounts as bigint[];
    demand(counts.length === (tree.explicitBounds as number[]).length + 1, message, 'buckets and bounds');
    demand(counts.reduce((sum, one) => sum + one, 0n) === tree.count, message, 'the count');
  }
  if (message.endsWith('DataPoint')) {
    demand((tree.timeUnixNano as bigint) >= (tree.startTimeUnixNano as bigint), message, 'its time before its start');
  }
}

function plain(value: Tree): unknown {
  const [kind, given] = Object.entries(value)[0] ?? [];
  if (Object.keys(value).length !== 1) throw new Error('AnyValue: not one value');
  if (kind === 'array') return ((given as Tree).values as Tree[]).map(plain);
  return kind === 'int' ? Number(given) : kind === 'bool' ? given === 1n : given;
}

function demand(holds: boolean, message: string, what: string): void {
  if (!holds) throw new Error(`${message}: ${what}`);
}
