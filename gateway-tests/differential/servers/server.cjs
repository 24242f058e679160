// server.cjs PORT: tells in X-Seen what Node's server reads of each request, as JSON in Base64. The body is the number of the answer.
const { createHash } = require('node:crypto');
const http = require('node:http');

let answers = 0;

// Node's texts have a character for each byte; what it has decoded is UTF-8.
const raw = (text) => Buffer.from(text, 'latin1').toString('hex');
const decoded = (text) => Buffer.from(text, 'utf8').toString('hex');

// What applications make of the target and of Host.
function readings(request) {
  const paths = new Set([raw(request.url.replace(/\?.*$/s, ''))]);
  const hosts = new Set(request.headers.host === undefined ? [] : [raw(request.headers.host)]);
  try {
    const { hostname, pathname } = new URL(`http://${request.headers.host}${request.url}`);
    hosts.add(decoded(hostname));
    paths.add(decoded(pathname));
    paths.add(decoded(decodeURIComponent(pathname)));
  } catch (e) {
    if (!(e instanceof TypeError) && !(e instanceof URIError)) throw e; // an application would answer with an error
  }
  return { paths: [...paths], hosts: [...hosts] };
}

http.createServer((request, response) => {
  const body = createHash('sha256');
  let length = 0;
  request.on('data', (piece) => {
    body.update(piece);
    length += piece.length;
  });
  request.on('end', () => {
    const id = String(++answers);
    const seen = { method: raw(request.method), target: raw(request.url), ...readings(request), length, hash: body.digest('hex') };
    response.writeHead(200, { 'X-Id': id, 'X-Seen': Buffer.from(JSON.stringify(seen)).toString('base64'), 'Content-Length': id.length });
    response.end(id);
  });
}).listen(Number(process.argv[2]), '127.0.0.1').keepAliveTimeout = 600000;
