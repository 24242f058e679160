// A rule of textlint: words and phrases that readers of this project stumbled over, and American spelling.

/**
 * Options: {words: [[PATTERN, HINT]...], tables: BOOLEAN}; a space in a pattern is any white space, and case does not
 * matter. Without tables it leaves these out: a table may compare our words with those of others.
 */
export default function words(context, { words: list, tables = true }) {
  const { Syntax, RuleError, report, getSource, locator } = context;
  const patterns = list.map(([pattern, hint]) => ({
    pattern: new RegExp(bounded(pattern).replaceAll(' ', '\\s+'), pattern.includes('Who ') ? 'g' : 'gi'),
    hint,
  }));
  return {
    [Syntax.Str](node) {
      if (!tables && node.parent?.type === Syntax.TableCell) return;
      const text = getSource(node);
      for (const { pattern, hint } of patterns) {
        for (const match of text.matchAll(pattern)) {
          const found = match[0].replace(/\s+/g, ' ').trim();
          const range = [match.index, match.index + match[0].length];
          report(node, new RuleError(`"${found.slice(0, 60)}": ${hint}`, { padding: locator.range(range) }));
        }
      }
    },
  };
}

function bounded(pattern) {
  return `(?<![\\w/.-])(?:${pattern})(?![\\w/-])`;
}
