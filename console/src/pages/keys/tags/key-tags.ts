/** Reads and writes tags of keys as text, one `name=value` per line, and finds what changes. */

export type Tags = Readonly<Record<string, string>>;
/** Null removes a tag. */
export type TagChanges = Readonly<Record<string, string | null>>;

const NAME = /^[a-z0-9][a-z0-9_.-]{0,39}$/;
const VALUE_MAX = 100;
const TAGS_MAX = 20;

/** `team=web`, one per line, by name. */
export function tagLines(tags: Tags): readonly string[] {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}

/** Reads one tag per line. `team=` is null: it removes the tag. */
export function readTags(text: string): { readonly tags: TagChanges } | { readonly fault: string } {
  const tags = new Map<string, string | null>();
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const equals = line.indexOf('=');
    const [name, value] = [line.slice(0, equals).trim(), line.slice(equals + 1).trim()];
    if (equals === -1) return { fault: `“${line}” isn’t a tag. Enter name=value, such as team=web.` };
    if (!NAME.test(name)) {
      return {
        fault: `“${name}” isn’t a tag name. Use up to 40 of a–z, 0–9, _, . and -, starting with a letter or digit.`,
      };
    }
    if (value.length > VALUE_MAX) {
      return { fault: `The value of ${name} is ${value.length} characters long; the maximum is ${VALUE_MAX}.` };
    }
    if (tags.has(name)) return { fault: `${name} is entered twice. A key has one value of each tag.` };
    tags.set(name, value === '' ? null : value);
  }
  if (tags.size > TAGS_MAX) return { fault: `Found ${tags.size} tags; a key has at most ${TAGS_MAX}.` };
  return { tags: Object.fromEntries(tags) };
}

/** What makes the tags of a key `after`; empty: nothing. */
export function changedTags(before: Tags, after: Tags): TagChanges {
  const removed = Object.keys(before).filter((name) => after[name] === undefined);
  const set = Object.entries(after).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...set]);
}
