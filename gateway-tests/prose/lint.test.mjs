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
function findings(name, text) {
  const directory = mkdtempSync(join(tmpdir(), 'prose-'));
  try {
    const file = join(directory, name);
    writeFileSync(file, text);
    const { stdout, status } = spawnSync(process.execPath, [lint, file], { encoding: 'utf8' });
    const found = stdout.split('\n').filter(line => line !== '').map(line => line.slice(file.length + 1));
    assert.equal(status, found.length > 0 ? 1 : 0);
    return found.map(line => line.split(': ').slice(0, 2).join(': '));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const LONG = 'word '.repeat(28).trim() + '\nand one more.';

test('a sentence of more than 28 words, wrapped or in a table', () => {
  assert.deepEqual(findings('a.md', `Short.\n\n${LONG}\n`), ['3: sentence-length']);
  assert.deepEqual(findings('a.md', `| a |\n|---|\n| ${LONG.replace('\n', ' ')} |\n`), ['3: sentence-length']);
  assert.deepEqual(findings('a.md', `${'word '.repeat(14)}end.\n${'Word '.repeat(14)}end.\n`), []);
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
