/**
 * Substitutes `${NAME}` and `${NAME:-default}` inside the values of a configuration file: hides them from the YAML
 * parser and inserts the environment's values afterwards, so that a value can never become YAML.
 */

export type Environment = { readonly [name: string]: string | undefined };

/** The substituted value, or the problem with an expression in the text. */
export type Substitution =
  | { readonly text: string; readonly substituted: boolean }
  | { readonly found: string; readonly expected: string; readonly advice: string };

/** `$${…}` escapes the literal characters `${…}`. */
const EXPRESSION = /\$?\$\{[^}\n]*\}/g;
const PLACEHOLDER_BASE = 0xe000;
const PLACEHOLDERS = /[\ue000-\ue07f]/g;

/** True if a file contains characters that hiding needs for itself (of the private-use area). */
export function hasPlaceholders(text: string): boolean {
  return text.search(PLACEHOLDERS) !== -1;
}

/**
 * Replaces every expression with private-use characters, one for one: in `{ api_key: ${KEY} }` the braces would
 * otherwise be YAML's own. Positions do not change.
 */
export function hideExpressions(text: string): string {
  return text.replace(EXPRESSION, (expression) =>
    expression.replace(/[\0-\x7f]/g, (character) => String.fromCharCode(PLACEHOLDER_BASE + character.charCodeAt(0))),
  );
}

/** The inverse of `hideExpressions`, for the whole text or any part of it. */
export function showExpressions(text: string): string {
  return text.replace(PLACEHOLDERS, (character) => String.fromCharCode(character.charCodeAt(0) - PLACEHOLDER_BASE));
}

/**
 * Replaces each expression with the environment's value. Inserted text is not expanded again. A default applies if the
 * variable is unset or empty, as in a shell.
 */
export function substituteEnvironment(text: string, environment: Environment): Substitution {
  let value = '';
  let end = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    const expression = match[0];
    const before = text.slice(end, match.index);
    if (before.includes('${')) return unclosed();
    value += before;
    end = match.index + expression.length;
    if (expression.startsWith('$$')) {
      value += expression.slice(1);
      continue;
    }
    const [, name, fallback] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}$/s.exec(expression) ?? [];
    if (name === undefined) return malformed();
    const set = Object.hasOwn(environment, name) ? environment[name] : undefined;
    const chosen = fallback === undefined ? set : set || fallback;
    if (chosen === undefined) return unset(name);
    value += chosen;
  }
  const rest = text.slice(end);
  if (rest.includes('${')) return unclosed();
  return { text: value + rest, substituted: end > 0 };
}

function unset(name: string): Substitution {
  return {
    found: `\${${name}}, and the environment has no variable ${name}`,
    expected: 'a variable that is set',
    advice: `Set ${name}, or give a default: \${${name}:-default}.`,
  };
}

function malformed(): Substitution {
  return {
    found: `a \${…} that names no variable`,
    expected: `\${NAME} or \${NAME:-default}, the name made of letters, digits and _`,
    advice: `Correct the name; for the characters themselves write $\${…}.`,
  };
}

function unclosed(): Substitution {
  return {
    found: `a \${ without its }`,
    expected: `\${NAME} or \${NAME:-default} on one line`,
    advice: `Close it; for the characters themselves write $\${…}.`,
  };
}
