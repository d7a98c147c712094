/** Tests that a name has one color, regardless of the other names shown and of their order. */
import { describe, expect, test } from 'bun:test';
import { parseSlots, seriesColors, slotsWith } from './series-colors.ts';

/** `a`, `i` and `q` prefer the same color, `b` the next one. */
const NAMES = ['a', 'b', 'i', 'q'];
const many = Array.from({ length: 30 }, (_, at) => `model-${at}`);
const shown = (from: number) => many.slice(from, from + 8);
const sorted = (colors: ReadonlyMap<string, string>) => [...colors].sort();

describe('without stored colors', () => {
  test('names with different preferred colors get them in every set', () => {
    const alone = [seriesColors(['a']).get('a'), seriesColors(['b']).get('b')];
    expect([...seriesColors(['b', 'a']).values()].sort()).toEqual(alone.sort());
    expect(seriesColors(['i', 'b', 'a']).get('b')).toBe(seriesColors(['b']).get('b'));
  });
  test('colors don’t depend on the order', () => {
    for (const set of [NAMES, shown(0), shown(9), many]) {
      expect(sorted(seriesColors([...set].reverse()))).toEqual(sorted(seriesColors(set)));
    }
  });
  test('eight names get eight colors; further names share the rest color', () => {
    expect(new Set(seriesColors(shown(0)).values()).size).toBe(8);
    expect([...seriesColors(many).values()].filter((color) => color === 'var(--chart-rest)')).toHaveLength(22);
  });
});

describe('with stored colors', () => {
  test('a name keeps its color when others are added', () => {
    const first = slotsWith(new Map(), ['q']);
    const later = slotsWith(first, NAMES);
    expect(seriesColors(NAMES, later).get('q')).toBe(seriesColors(['q'], first).get('q'));
  });
  test('pages with different sets agree', () => {
    const slots = slotsWith(slotsWith(new Map(), NAMES), shown(0).slice(0, 4));
    const home = seriesColors([...shown(0).slice(0, 2), 'q'], slots);
    const usage = seriesColors([...NAMES, ...shown(0).slice(0, 4)], slots);
    for (const [name, color] of home) expect(usage.get(name)).toBe(color);
  });
  test('a new name avoids shown colors, and names sharing one are separated when shown together', () => {
    let slots = slotsWith(new Map(), []);
    for (let from = 0; from < many.length; from++) {
      slots = slotsWith(slots, shown(from));
      const colors = seriesColors(shown(from), slots);
      expect(new Set(colors.values()).size).toBe(shown(from).length);
      expect(sorted(seriesColors(shown(from).reverse(), slots))).toEqual(sorted(colors));
    }
  });
  test('stores nothing without new names', () => {
    const slots = slotsWith(new Map(), NAMES);
    expect(slotsWith(slots, ['a'])).toBe(slots);
  });
  test('parses stored slots and ignores invalid text', () => {
    const slots = slotsWith(new Map(), NAMES);
    expect(parseSlots(JSON.stringify([...slots]))).toEqual(slots);
    for (const text of [null, '', '{', '{}', '[1]', '[["a"]]', '[["a",9]]', '[["a",-1]]', '[["a",0.5]]', '[[1,1]]'])
      expect(parseSlots(text).size).toBe(0);
  });
});
