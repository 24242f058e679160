// Finds the texts of messages in Java sources: string literals, joined where the code joins them by "+".

const LEAST_WORDS = 4; // shorter ones are names, keys and formats

/** Returns a list of {line, text}; what the code inserts into a text is written as X. */
export function messages(source) {
  const found = [];
  const open = [null]; // the text that is being joined, for each bracket that is open
  let joins = false; // the token before was a "+"
  const end = depth => {
    if (open[depth]) found.push(open[depth]);
    open[depth] = null;
  };
  for (const token of tokens(source)) {
    const depth = open.length - 1;
    const text = open[depth];
    if (token.kind === 'string') {
      if (text && joins) text.text += token.text;
      else {
        end(depth);
        open[depth] = { line: token.line, text: token.text };
      }
      joins = false;
    } else if (token.text === '+') {
      joins = true;
    } else if ('([{'.includes(token.text)) {
      if (text && joins) text.text += 'X';
      if (token.text === '{') end(depth);
      open.push(null);
      joins = false;
    } else if (')]}'.includes(token.text)) {
      end(depth);
      if (depth > 0) open.pop();
      joins = false;
    } else if (',;?:'.includes(token.text)) {
      end(depth);
      joins = false;
    } else {
      if (text && joins) text.text += 'X';
      joins = false;
    }
  }
  open.forEach((_, depth) => end(depth));
  return found
    .map(({ line, text }) => ({ line, text: text.replace(/%\d*\$?[sd]|\{\}/g, 'X').replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => (text.match(/(?<![\w.$-])[A-Za-z][a-z']*(?![\w$-]|\.\w)/g) ?? []).length >= LEAST_WORDS)
    .filter(({ text }) => !/[{}<>]|=>|\w\(\)/.test(text)); // code, markup and JSON
}

/** Splits Java into strings and everything else; leaves out comments and characters. */
function* tokens(source) {
  const pattern = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"""([\s\S]*?)(?<!\\)"""|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'|->|[\w$.]+|\S/g;
  let line = 1;
  let at = 0;
  for (const match of source.matchAll(pattern)) {
    line += source.slice(at, match.index).split('\n').length - 1;
    at = match.index;
    const [all, block, string] = match;
    if (string !== undefined || block !== undefined) {
      yield { kind: 'string', line, text: unescape(string ?? block) };
    } else if (!all.startsWith('//') && !all.startsWith('/*') && !all.startsWith("'")) {
      yield { kind: 'other', line, text: all };
    }
  }
}

function unescape(text) {
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|n|t|r|s|0|\n|.)/g, escape => {
    if ('\\"\''.includes(escape[1])) return escape[1];
    return escape[1] === 'u' ? String.fromCharCode(parseInt(escape.slice(2), 16)) : ' ';
  });
}
