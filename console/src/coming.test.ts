/** Shows that the page in the console's place holds to its own content security policy and loads only what is served. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { COMING_ASSETS, COMING_CONTENT_SECURITY_POLICY, COMING_PAGE } from './coming.ts';

const html = await Bun.file(COMING_PAGE.file).text();

/** What the page's tags hold: name and attributes, in order. */
function tags(): { name: string; attributes: Map<string, string> }[] {
  const found: { name: string; attributes: Map<string, string> }[] = [];
  const rewriter = new HTMLRewriter().on('*', {
    element: (element) => void found.push({ name: element.tagName, attributes: new Map(element.attributes) }),
  });
  rewriter.transform(html);
  return found;
}

describe('the page', () => {
  test('has no script, no inline style and no handler, as its policy demands', () => {
    expect(COMING_CONTENT_SECURITY_POLICY).not.toContain('unsafe');
    expect(tags().length).toBeGreaterThan(20);
    for (const { name, attributes } of tags()) {
      expect(['script', 'style', 'iframe', 'object', 'form']).not.toContain(name);
      for (const attribute of attributes.keys()) expect(attribute).not.toMatch(/^(on.*|style)$/);
    }
  });

  test('loads nothing but what is served beside it', () => {
    const loaded = tags()
      .filter(({ name }) => name === 'link' || name === 'img')
      .map(({ attributes }) => attributes.get('href') ?? attributes.get('src'));
    expect(loaded.filter((address) => address !== 'data:,')).toEqual(COMING_ASSETS.map(({ path }) => path));
  });

  test('names its language and title, and has one main part with one first heading', () => {
    const names = tags().map(({ name }) => name);
    expect(
      tags()
        .find(({ name }) => name === 'html')
        ?.attributes.get('lang'),
    ).toBe('en');
    for (const once of ['title', 'main', 'h1']) expect(names.filter((name) => name === once)).toEqual([once]);
  });
});

test('every file is there and not empty', async () => {
  for (const { file, contentType } of [COMING_PAGE, ...COMING_ASSETS]) {
    expect(Bun.file(file).type.split(';')[0]).toBe(contentType.split(';')[0] ?? '');
    expect((await Bun.file(file).text()).length).toBeGreaterThan(500);
  }
});

describe('contrast', () => {
  const styles = COMING_ASSETS.map(({ file }) => readFileSync(file, 'utf8')).join('');
  const themes: [string, number][] = [
    ['light', 0],
    ['dark', 1],
  ];

  /** Relative luminance (WCAG 2.2) of a colour written as oklch(L% C H). */
  const luminance = (written: string): number => {
    const [l = 0, chroma = 0, hue = 0] = [...written.matchAll(/[\d.]+/g)].map(([number]) => Number(number));
    const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
    const long = (l / 100 + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const middle = (l / 100 - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const short = (l / 100 - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short;
    const green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short;
    const blue = -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  test.each(themes)('text, quiet text and links are AA on both grounds in the %s theme', (_theme, index) => {
    const colour = (name: string): number =>
      luminance([...styles.matchAll(new RegExp(`--${name}: oklch\\(([^)]*)\\)`, 'g'))][index]?.[1] ?? '');
    for (const ground of ['ground', 'raised']) {
      for (const text of ['text', 'quiet', 'accent']) {
        const [dark = 0, light = 0] = [colour(ground), colour(text)].sort((one, other) => one - other);
        expect((light + 0.05) / (dark + 0.05)).toBeGreaterThan(4.5);
      }
    }
  });
});
