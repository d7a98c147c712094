/** Declares what the build uses of `subset-font`, which has no types. Its documentation: https://www.npmjs.com/package/subset-font */
declare module 'subset-font' {
  /** Returns the font with only the characters of the text. */
  export default function subsetFont(
    font: Uint8Array,
    text: string,
    options: {
      readonly targetFormat: 'woff2';
      readonly keepFeatures: readonly string[];
      readonly variationAxes: Readonly<Record<string, number | { readonly min: number; readonly max: number }>>;
    },
  ): Promise<Uint8Array>;
}
