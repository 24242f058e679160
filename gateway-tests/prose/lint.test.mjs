// Shows that each rule finds what it is for; "run" begins with this.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const lint = fileURLToPath(new URL('lint.mjs', import.meta.url));

/** Lints a text as a file of such a name; returns LINE: RULE of each finding. */
function findings(name, text, ...options) {
  const directory = mkdtempSync(join(tmpdir(), 'prose-'));
  try {
    const file = join(directory, name);
    writeFileSync(file, text);
    const { stdout, status } = spawnSync(process.execPath, [lint, ...options, file], { encoding: 'utf8' });
    const found = stdout.split('\n').filter(line => line !== '').map(line => line.slice(file.length + 1));
    assert.equal(status, found.length > 0 ? 1 : 0);
    return found.map(line => line.split(': ').slice(0, 2).join(': '));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const LONG = 'word '.repeat(25).trim() + '\nand one more.';

test('a sentence of more than 25 words, wrapped or in a table', () => {
  assert.deepEqual(findings('a.md', `Short.\n\n${LONG}\n`), ['3: sentence-length']);
  assert.deepEqual(findings('a.md', `| a |\n|---|\n| ${LONG.replace('\n', ' ')} |\n`), ['3: sentence-length']);
  assert.deepEqual(findings('a.md', `${'word '.repeat(13)}end.\n${'Word '.repeat(13)}end.\n`), []);
});

test('terms', () => {
  assert.deepEqual(findings('a.md', 'A page in Javascript.\n'), ['1: terminology']);
});

test('British spelling', () => {
  assert.deepEqual(findings('a.md', 'The\nbehaviour\nis normalised.\n').sort(), ['2: american', '3: american']);
});

test('phrases that readers stumbled over', () => {
  assert.deepEqual(findings('a.md', 'Whoever asks is\ntold so.\n'), ['1: words', '1: words']);
  assert.deepEqual(findings('a.md', 'Who names a port wants it.\n'), ['1: words']);
  assert.deepEqual(findings('a.md', 'An upgrade is asked for.\n'), ['1: words']);
});

test('words of others for what our glossary names, but not in tables that compare them', () => {
  assert.deepEqual(findings('a.md', 'Write a middleware.\n'), ['1: glossary']);
  assert.deepEqual(findings('a.md', '| ours | others |\n|---|---|\n| filter | middleware |\n'), []);
});

test('code, and what is marked as an exception', () => {
  assert.deepEqual(findings('a.md', '`whoever` and\n\n    normalise whoever\n'), []);
  assert.deepEqual(findings('a.md', '<!-- textlint-disable -->\n\nWhoever.\n\n<!-- textlint-enable -->\n'), []);
});

test('messages in Java, at the line of the text', () => {
  const source = (...lines) => ['class A { // whoever may come here', ...lines, '}'].join('\n');
  assert.deepEqual(findings('A.java', source('f("the port is taken by whoever came first");')), ['2: words']);
  assert.deepEqual(findings('A.java', source('f(g,', '  "the endpoint "', '  + name() + " is told so");')), ['3: words']);
  assert.deepEqual(findings('A.java', source('f("whoever");', 'char c = \'"\'; // "a port for whoever comes first"')), []);
  assert.deepEqual(findings('A.java', source(`f("${LONG.replace('\n', ' "\n + "')}");`)), ['2: sentence-length']);
});

test('descriptions in JSON, text in HTML, strings and comments of scripts, YAML and JavaScript', () => {
  assert.deepEqual(findings('a.json', '{"a": {\n"description": "open to whoever comes first", "b": "whoever comes here first"}}'), ['2: words']);
  assert.deepEqual(findings('a.html', '<body>\n<p>This is open\n to whoever comes.</p>'), ['2: words']);
  assert.deepEqual(findings('a.js', 'f(1);\nsay(`open to whoever comes in ${n}`); // this is for whoever comes'), ['2: words', '2: words']);
  assert.deepEqual(findings('run', '#!/usr/bin/env python3\n"""Opens the gateway for whoever comes."""\nhelp="open to whoever comes here"'),
    ['2: words', '3: words']);
  assert.deepEqual(findings('a.yaml', 'a: 1\n# This key is open\n# to whoever comes.\nwhoever: 1'), ['2: words']);
});

test('phrases in comments of Java, of which nothing else counts', () => {
  const source = '/** The generation in\n * force. */\nclass A {\n  int a = f("what is in force"); // this goes on\n}';
  assert.deepEqual(findings('A.java', source, '--comments'), ['1: comments', '4: comments']);
  assert.deepEqual(findings('A.java', `/** ${LONG} */ class A {}`, '--comments'), []);
});
