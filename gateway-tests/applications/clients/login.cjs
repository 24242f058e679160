// login.cjs URL PASSWORD    Logs in at Keycloak's page in Chromium, as a client of OpenID Connect.
const { chromium } = require('playwright-core')
const { Issuer, custom, generators } = require('openid-client')
const [base, password] = process.argv.slice(2)
custom.setHttpOptionsDefaults({ timeout: 30_000 })

const main = async () => {
  const issuer = await Issuer.discover(base + '/realms/shop')
  if (issuer.issuer !== base + '/realms/shop') throw new Error('the issuer is ' + issuer.issuer)
  const client = new issuer.Client({
    client_id: 'web', client_secret: 'a-secret', redirect_uris: ['https://app.example.com/back'], response_types: ['code'] })
  const verifier = generators.codeVerifier()
  const state = generators.state()
  const url = client.authorizationUrl({
    scope: 'openid profile', state, code_challenge: generators.codeChallenge(verifier), code_challenge_method: 'S256' })
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const page = await context.newPage()
    let back
    const returned = new Promise(resolve => page.on('request', request => {
      if (!request.url().startsWith('https://app.example.com/back?')) return
      back = request.url() // which nobody answers
      resolve()
    }))
    await page.goto(url)
    await page.fill('#username', 'tom')
    await page.fill('#password', password)
    await page.click('#kc-login')
    await Promise.race([returned, page.getByText('Invalid username or password').first().waitFor({ timeout: 60_000 }).catch(() => {})])
    if (!back) throw new Error('refused')
    const tokens = await client.callback('https://app.example.com/back', client.callbackParams(back), { code_verifier: verifier, state })
    const user = await client.userinfo(tokens)
    console.log(`${tokens.claims().iss.replace(base, '')} ${user.preferred_username}`)
    const next = await client.refresh(tokens)
    if (!next.access_token) throw new Error('no token')
    console.log('refreshed')
  } finally {
    await browser.close()
  }
}
main().catch(e => { console.log('error: ' + e.stack); process.exit(1) })
