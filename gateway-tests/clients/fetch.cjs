// fetch.cjs URL: fetches by way of HTTPS_PROXY with undici, prints the body. NODE_EXTRA_CA_CERTS is trusted.
const { EnvHttpProxyAgent, fetch } = require('undici');

fetch(process.argv[2], { dispatcher: new EnvHttpProxyAgent() })
  .then(async (response) => {
    if (!response.ok) throw new Error(String(response.status));
    process.stdout.write(await response.text());
  })
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
