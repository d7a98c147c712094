/** Owns setting members of YAML files that people keep, line by line: every other line stays as it is. Reads no YAML but these lines. */

/** The text with a top-level member set to a text of one line. Throws an Error where it stands there in another form. */
export function setYamlText(text: string, name: string, value: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${name}:`));
  const line = `${name}: ${JSON.stringify(value)}`;
  if (at === -1) return appendLine(text, line);
  const next = lines[at + 1] ?? '';
  if (/^\s+\S|^- /.test(next) && !/^\s*#/.test(next)) {
    throw new Error(`line ${at + 1}: ${name} goes over several lines, expected one`);
  }
  lines[at] = line;
  return lines.join('\n');
}

/**
 * The text with an item in a top-level list of mappings, first, where it is the default; one with the same first member is
 * replaced. `members` in their order, each a text or a list of texts. Throws an Error where the list stands in another form.
 */
export function setYamlItem(
  text: string,
  list: string,
  members: readonly (readonly [name: string, value: string | readonly string[]])[],
): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${list}:`));
  if (at === -1) return appendLine(text, [`${list}:`, ...renderItem(members, '  ')].join('\n'));
  if (!/^\w+:\s*(#.*)?$/.test(lines[at] ?? ''))
    throw new Error(`line ${at + 1}: ${list} is in one line, expected an item per line`);
  const indent = /^(\s*)- /.exec(lines.slice(at + 1).find((line) => /^\s*- /.test(line)) ?? '')?.[1] ?? '  ';
  const item = renderItem(members, indent);
  const begins = lines.findIndex((line, index) => index > at && line === item[0]);
  if (begins === -1) {
    lines.splice(at + 1, 0, ...item);
    return lines.join('\n');
  }
  let ends = begins + 1;
  while (ends < lines.length && (lines[ends] ?? '').startsWith(`${indent}  `)) ends += 1;
  lines.splice(begins, ends - begins, ...item);
  return lines.join('\n');
}

function renderItem(
  members: readonly (readonly [name: string, value: string | readonly string[]])[],
  indent: string,
): string[] {
  return members.map(
    ([name, value], index) => `${indent}${index === 0 ? '- ' : '  '}${name}: ${JSON.stringify(value)}`,
  );
}

function appendLine(text: string, line: string): string {
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}
