// Finds the prose in files that are neither Markdown nor Java: comments, help texts and descriptions.

import { messages } from './messages.mjs';

/** Returns a list of {line, text} for a file of a known kind, and null for Markdown. */
export function texts(file, source) {
  if (file.endsWith('.md')) return null;
  if (file.endsWith('.java')) return messages(source);
  if (file.endsWith('.json')) return descriptions(source);
  if (file.endsWith('.html')) return markup(source);
  if (file.endsWith('.js')) return [...comments(source, /(?<!:)\/\/ ?(.*)|\/\*\* ?(.*?) ?\*\//), ...quoted(source)];
  if (file.endsWith('.yaml')) return [...comments(source, /(?:^|\s)# (.*)/), ...summaries(source)];
  return [...comments(source, /(?:^|\s)# (.*)/), ...docstring(source), ...quoted(source)]; // Python and shell
}

/** Returns the text of Javadoc and other comments of Java. */
export function javaComments(source) {
  const found = [];
  for (const match of source.matchAll(/"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*\n\s*)+/g)) {
    if (match[0].startsWith('"')) continue;
    const text = match[0].replace(/^\s*(?:\/\*+|\*\/|\*|\/\/)/gm, ' ').replace(/\*\/$/, '');
    found.push({ line: lineOf(source, match.index), text: spaced(text.replace(/\{@\w+ ([^}]*)\}/g, 'X')) });
  }
  return found.filter(isProse);
}

/** Comments; those on lines of their own continue the one before. */
function comments(source, pattern) {
  const found = [];
  let before = null; // the comment that the next line may continue
  source.split('\n').forEach((line, i) => {
    const match = line.match(pattern);
    const text = match && (match[1] ?? match[2]);
    const alone = match && line.trim() === match[0].trim();
    if (!match || /^\s*[-#]|^\s*[\w/.-]+: |^ {2,}/.test(text)) {
      before = null; // code in a comment
    } else if (alone && before) {
      before.text += ' ' + text;
    } else {
      found.push({ line: i + 1, text });
      before = alone ? found.at(-1) : null;
    }
  });
  return found.map(({ line, text }) => ({ line, text: spaced(text) })).filter(isProse);
}

/** Values of "description" and "summary" in JSON. */
function descriptions(source) {
  return matches(source, /"(?:description|summary)":\s*"((?:[^"\\]|\\.)*)"/g);
}

/** Summaries and descriptions of alerts. */
function summaries(source) {
  return matches(source, /\b(?:summary|description): "((?:[^"\\]|\\.)*)"/g, text => text.replace(/\{\{.*?\}\}/g, 'X'));
}

/** Strings in quotes, with X for what the code inserts. */
function quoted(source) {
  const strings = /"""[\s\S]*?"""|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g;
  return matches(source, strings, text => text.replace(/\$\{[^}]*\}|\{[^}]*\}/g, 'X')).filter(({ text }) => !/[<>=;$|]|X\(/.test(text));
}

/** The text at the beginning of a program in Python. */
function docstring(source) {
  const start = source.match(/^(?:#!.*\n)?"""([\s\S]*?)"""/);
  return start ? start[1].split('\n\n').filter(part => !/^\s*(usage:|\w+\/run )/.test(part)).map(part => ({ line: 2, text: spaced(part) })) : [];
}

/** The text of HTML between tags that begin a block. */
function markup(source) {
  const text = source.replace(/<(?!\/?(?:b|a|code|span)\b)[^>]*>/g, tag => '\u0000' + '\n'.repeat(tag.split('\n').length - 1));
  const found = [];
  let line = 1;
  for (const part of text.split('\u0000')) {
    const lead = part.match(/^\s*/)[0];
    found.push({ line: line + lead.split('\n').length - 1, text: spaced(part.replace(/<[^>]*>|&\w+;/g, '')) });
    line += part.split('\n').length - 1;
  }
  return found.filter(isProse);
}

function matches(source, pattern, clean = text => text) {
  return [...source.matchAll(pattern)]
    .map(match => ({ line: lineOf(source, match.index), text: spaced(clean(match[1] ?? match[2] ?? match[3] ?? '')) }))
    .filter(isProse);
}

function isProse({ text }) {
  return (text.match(/(?<![\w.$-])[A-Za-z][a-z']+(?![\w$-]|\.\w)/g) ?? []).length >= 3;
}

function spaced(text) {
  return text.replace(/\\n/g, ' ').replace(/\s+/g, ' ').trim();
}

function lineOf(source, index) {
  return source.slice(0, index).split('\n').length;
}
