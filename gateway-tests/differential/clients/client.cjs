// client.cjs VERSION: reads lines of a lane, a method and a URL, and writes what Node's client gets of each, as JSON. Each lane has a
// connection of its own.
const http = require('node:http');
const http2 = require('node:http2');
const readline = require('node:readline');

const agents = new Map();
const sessions = new Map();

function tell(lane, result) {
  process.stdout.write(`${lane} ${JSON.stringify(result)}\n`);
}

function pairs(raw) {
  const found = [];
  for (let i = 0; i < raw.length; i += 2) found.push([raw[i].toLowerCase(), raw[i + 1]]);
  return found;
}

function fetchHttp1(lane, method, url) {
  if (!agents.has(lane)) agents.set(lane, new http.Agent({ keepAlive: true, maxSockets: 1 }));
  const result = { status: 0, body: '', trailers: [], error: '' };
  const request = http.request(url, { method, agent: agents.get(lane) }, (response) => {
    const pieces = [];
    result.status = response.statusCode;
    response.on('data', (piece) => pieces.push(piece));
    response.on('error', (error) => {
      result.error = `${error.code} ${error.message}`;
    });
    response.on('close', () => {
      result.body = Buffer.concat(pieces).toString('hex');
      result.trailers = pairs(response.rawTrailers);
      if (!response.complete && !result.error) result.error = 'ECONNRESET incomplete';
      tell(lane, result);
    });
  });
  request.on('error', (error) => {
    result.error = `${error.code} ${error.message}`;
    if (!request.res) tell(lane, result); // else the response tells
  });
  request.on('upgrade', (_, socket) => {
    socket.destroy();
    result.error = 'upgraded';
    tell(lane, result);
  });
  request.end();
}

function session(lane, origin) {
  let open = sessions.get(lane);
  if (!open || open.closed || open.destroyed) {
    open = http2.connect(origin, { rejectUnauthorized: false });
    open.on('error', () => {}); // each stream tells
    sessions.set(lane, open);
  }
  return open;
}

function fetchHttp2(lane, method, url) {
  const { origin, pathname } = new URL(url);
  const stream = session(lane, origin).request({ ':method': method, ':path': pathname });
  const result = { status: 0, body: '', trailers: [], error: '' };
  const pieces = [];
  let ended = false;
  stream.on('response', (fields) => {
    result.status = fields[':status'];
  });
  stream.on('data', (piece) => pieces.push(piece));
  stream.on('trailers', (_, flags, raw) => {
    result.trailers = pairs(raw);
  });
  stream.on('end', () => {
    ended = true;
  });
  stream.on('error', (error) => {
    result.error = `${error.code} ${error.message}`;
  });
  stream.on('close', () => {
    result.body = Buffer.concat(pieces).toString('hex');
    if (!result.error && (!ended || stream.rstCode || !result.status)) result.error = `ECONNRESET reset by ${stream.rstCode}`;
    tell(lane, result);
  });
  stream.end();
}

const fetch = process.argv[2] === 'http2' ? fetchHttp2 : fetchHttp1;
readline.createInterface({ input: process.stdin }).on('line', (line) => fetch(...line.split(' '))).on('close', () => process.exit());
