/** Reads and writes the prices per unit of a price, under flat names: `second`, `image 1024x1024/high`. */
import type { Body } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sentenceCase } from '../../lib/format.ts';
import type { PriceView } from './model-facts.ts';

type PerUnit = NonNullable<Body<'PUT /accounts/{account}/models/{model}/price'>['per_unit']>;

/** As typed, by flat name: US dollars per unit; empty: no price. */
export type UnitTexts = Readonly<Record<string, string>>;

const OFFERED = ['image', 'second', 'character', 'search'] as const;
const KIND = 'image ';
/** As the gateway checks it. */
const KIND_FORM = /^[a-z0-9][a-z0-9._-]{0,39}(?:\/[a-z0-9][a-z0-9._-]{0,39})?$/;
const PRICE_FORM = /^\d{1,4}(?:\.\d{1,12})?$/;

/** The prices by flat name. */
export function flatUnits(price: Pick<PriceView, 'per_unit'> | null): UnitTexts {
  const { image, ...others } = price?.per_unit ?? {};
  const kinds = typeof image === 'object' ? Object.entries(image).map(([kind, text]) => [KIND + kind, text]) : [];
  const all = typeof image === 'string' ? { image } : {};
  return { ...all, ...Object.fromEntries(kinds), ...others };
}

/** The units that can be priced, with the present prices. */
export function startUnits(price: Pick<PriceView, 'per_unit'> | null): UnitTexts {
  return { ...Object.fromEntries(OFFERED.map((unit) => [unit, ''])), ...flatUnits(price) };
}

/** `Image (1024x1024/high)`. */
export function unitLabel(name: string): string {
  return name.startsWith(KIND) ? `Image (${name.slice(KIND.length)})` : sentenceCase(name);
}

/** The units with another size and quality of images; null: it is not one, or there already. */
export function addKind(units: UnitTexts, kind: string): UnitTexts | null {
  const name = KIND + kind.trim().toLowerCase();
  return KIND_FORM.test(name.slice(KIND.length)) && units[name] === undefined ? { ...units, [name]: '' } : null;
}

/** Error messages by `per_unit.` and the flat name. */
export function unitErrors(units: UnitTexts): Record<string, string> {
  const typed = typedUnits(units);
  const errors = typed.flatMap(([name, text]) =>
    PRICE_FORM.test(text) ? [] : [[`per_unit.${name}`, `“${text}” isn’t a number with up to 12 decimal places.`]],
  );
  const hasBoth = typed.some(([name]) => name === 'image') && typed.some(([name]) => name.startsWith(KIND));
  if (hasBoth) errors.push(['per_unit.image', 'Enter one price for all images, or prices by size and quality.']);
  return Object.fromEntries(errors);
}

/** The member of the request; undefined: no unit has a price. */
export function unitsBody(units: UnitTexts): PerUnit | undefined {
  const typed = typedUnits(units);
  if (typed.length === 0) return undefined;
  const kinds = typed.filter(([name]) => name.startsWith(KIND)).map(([name, text]) => [name.slice(KIND.length), text]);
  const others = typed.filter(([name]) => !name.startsWith(KIND));
  return { ...(kinds.length === 0 ? {} : { image: Object.fromEntries(kinds) }), ...Object.fromEntries(others) };
}

function typedUnits(units: UnitTexts): (readonly [name: string, text: string])[] {
  return Object.entries(units).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()] as const]));
}
