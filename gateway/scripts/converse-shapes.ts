/**
 * Reduces the service model of Amazon Bedrock that `botocore` ships to the shapes of a Converse request, as test data:
 * `run-bun.cjs converse-shapes.ts SERVICE-2.JSON VERSION`, with the unpacked `data/bedrock-runtime/…/service-2.json` of
 * the PyPI package and its version.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Reference {
  readonly shape: string;
}

interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, Reference>>;
  readonly member?: Reference;
  readonly key?: Reference;
  readonly value?: Reference;
  readonly [property: string]: unknown;
}

/** What a request is judged by; the rest is documentation. */
const KEPT = ['type', 'required', 'enum', 'min', 'max', 'pattern', 'union', 'document'] as const;
const ROOTS = ['ConverseRequest', 'ConverseStreamRequest'];

const [file, version] = process.argv.slice(2);
if (file === undefined || version === undefined) throw new Error('give the path of service-2.json and its version');
const { shapes } = JSON.parse(readFileSync(file, 'utf8')) as { readonly shapes: Readonly<Record<string, Shape>> };

const reduced = new Map<string, object>();
const open = [...ROOTS];
for (let name = open.pop(); name !== undefined; name = open.pop()) {
  const shape = shapes[name];
  if (shape === undefined) throw new Error(`the model has no shape ${name}`);
  if (reduced.has(name)) continue;
  const members = Object.entries(shape.members ?? {}).map(([member, { shape: of }]) => [member, of] as const);
  const inner = [shape.member, shape.key, shape.value].flatMap((one) => (one === undefined ? [] : [one.shape]));
  reduced.set(name, {
    ...Object.fromEntries(
      KEPT.flatMap((property) => (shape[property] === undefined ? [] : [[property, shape[property]]])),
    ),
    ...(shape.members === undefined ? {} : { members: Object.fromEntries(members) }),
    ...(shape.member === undefined ? {} : { member: shape.member.shape }),
    ...(shape.key === undefined ? {} : { key: shape.key.shape, value: shape.value?.shape }),
  });
  open.push(...members.map(([, of]) => of), ...inner);
}

const source = `botocore ${version}, data/bedrock-runtime/2023-09-30/service-2.json (Apache-2.0)`;
const sorted = Object.fromEntries([...reduced].sort(([one], [other]) => (one < other ? -1 : 1)));
const target = join(import.meta.dir, '../test/conformance/converse/request-shapes.json');
writeFileSync(target, `${JSON.stringify({ source, shapes: sorted }, null, 2)}\n`);
