// use.cjs BASE CA ACTION: uses a server with undici, and prints what came of it.
const { readFileSync } = require('node:fs');
const { Agent, request } = require('undici');

const [base, ca, action] = process.argv.slice(2);
const size = Number(process.env.USE_SIZE);
let dispatcher;
const told = async ({ statusCode, body }) => {
  const text = await body.text();
  return `${statusCode} ${text.length > 1000 ? text.length : statusCode === 200 ? text.trim().slice(0, 9) : ''}`.trim();
};

async function use() {
  if (action === 'login') {
    const authorization = 'Basic ' + Buffer.from('ci:open@sesame/1').toString('base64');
    return told(await request(base + '/login', { dispatcher, headers: { authorization } }));
  }
  if (action === 'stream') {
    const { body } = await request(base + '/stream', { dispatcher });
    return `${(await body.text()).split('\n').filter(Boolean).length} pieces`;
  }
  if (action === 'restart') {
    const cut = await request(base + '/restart', { dispatcher }).then(told).then(() => 'whole', () => 'cut');
    return `${cut}, ${await told(await request(base + '/restart/hello', { dispatcher }))}`;
  }
  if (action === 'again') await told(await request(base + '/close', { dispatcher }));
  const up = action.startsWith('up') ? { method: 'POST', body: Buffer.alloc(size, 'x') } : {};
  return told(await request(`${base}/${action === 'again' ? 'hello' : action}`, { dispatcher, ...up }));
}
async function all() {
  for (let tries = Number(process.env.USE_TRIES); tries > 0; tries--) {
    dispatcher = new Agent({ connect: { ca: readFileSync(ca) } });
    await use().then(console.log, (error) => console.log('error:', error.code, error.message));
    await dispatcher.destroy();
  }
}
all();
