// node provider.mjs DIRECTORY CALLBACK    Serves an OpenID provider on a port of 127.0.0.1 until it is killed, with the
// oidc-provider that ./install has put in DIRECTORY. Its one client, shop, has the secret "shop's secret", and is called back
// at CALLBACK. Whoever enters a name in the login form is that user, with any password. Ann alone has a preferred
// name and a group. Prints the issuer when it listens.
import { createServer } from 'node:http';

const [directory, callback] = process.argv.slice(2);
const { default: Provider } = await import(`${directory}/node_modules/oidc-provider/lib/index.js`);

const server = createServer().listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'shop', client_secret: "shop's secret", redirect_uris: [callback] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
    pkce: { required: () => true },
    async findAccount(context, name) {
      return {
        accountId: name,
        claims: () => ({
          sub: name,
          email: `${name}@shop.example.com`,
          email_verified: true,
          ...(name === 'ann' && { preferred_username: 'Ann', groups: ['staff'] }),
        }),
      };
    },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
