/** Tells characters that a text shown to people should not have: they end its line, move a cursor, or cannot be seen. */

/** Control and format characters (which may reverse a text) and line separators. For searches and replacements. */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same in names, but for U+200C and U+200D, which Persian words and many emoji need. */
export const HIDDEN_IN_NAME = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
