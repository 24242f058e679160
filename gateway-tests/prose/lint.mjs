// Checks the prose of files: lint.mjs [--comments] FILE...; see "run". It reads Markdown as it is. Of other files it reads
// messages, help texts, descriptions and comments. With --comments it looks for phrases in the comments of Java, nothing else.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { TextlintKernel } from '@textlint/kernel';
import { javaComments, texts } from './texts.mjs';
import unwrapped from './unwrapped.mjs';
import words from './words.mjs';

const require = createRequire(import.meta.url);
const module = name => require(name).default ?? require(name);
const ours = JSON.parse(readFileSync(new URL('words.json', import.meta.url)));

const MAX_WORDS = 25; // of a sentence

const onlyComments = process.argv[2] === '--comments';
const files = process.argv.slice(onlyComments ? 3 : 2);

const kernel = new TextlintKernel();
const checks = {
  plugins: [
    { pluginId: 'markdown', plugin: module('@textlint/textlint-plugin-markdown'), options: true },
    { pluginId: 'text', plugin: module('@textlint/textlint-plugin-text'), options: true },
  ],
  rules: [
    { ruleId: 'sentence-length', rule: unwrapped(module('textlint-rule-en-max-word-count')), options: { max: MAX_WORDS } },
    { ruleId: 'terminology', rule: module('textlint-rule-terminology'), options: ours.terminology },
    { ruleId: 'words', rule: words, options: { words: ours.words } },
    { ruleId: 'glossary', rule: words, options: { words: ours.glossary, tables: false } },
    { ruleId: 'american', rule: words, options: { words: ours.american } },
  ],
  filterRules: [{ ruleId: 'comments', rule: module('textlint-filter-rule-comments'), options: true }],
};

const phrases = {
  plugins: checks.plugins,
  rules: [{ ruleId: 'comments', rule: words, options: { words: ours.comments } }],
};

async function check(file) {
  const source = readFileSync(file, 'utf8');
  const parts = onlyComments ? javaComments(source) : texts(file, source);
  if (!parts) {
    return (await lint(source, '.md', file, checks)).map(found => ({ ...found, text: lineAt(source, found.line) }));
  }
  const joined = parts.map(({ text }) => text).join('\n\n');
  return (await lint(joined, '.txt', file, onlyComments ? phrases : checks))
    .filter(found => !isOnlyCase(found))
    .map(found => {
      const { line, text } = parts[(found.line - 1) / 2];
      return { ...found, line, text };
    });
}

/** Messages show keys and values as they are written, without marks: "text or json". */
function isOnlyCase({ ruleId, message }) {
  const [, found, better] = message.match(/“(.*)”.*“(.*)”/) ?? [];
  return ruleId === 'terminology' && found?.toLowerCase() === better?.toLowerCase();
}

async function lint(text, ext, filePath, options) {
  return (await kernel.lintText(text, { filePath, ext, ...options })).messages;
}

function lineAt(source, line) {
  return source.split('\n')[line - 1].trim();
}

let count = 0;
for (const file of files) {
  for (const { line, ruleId, message, text } of await check(file)) {
    console.log(`${file}:${line}: ${ruleId}: ${message.split('\n')[0]}: ${text}`);
    count++;
  }
}
if (count > 0) {
  console.error(`${count} to mend`);
  process.exitCode = 1;
}
