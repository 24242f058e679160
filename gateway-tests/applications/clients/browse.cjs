// browse.cjs WHAT URL    Uses a page in Debian's Chromium. The certificate is that of a test.
const { chromium } = require('playwright-core')
const [what, base] = process.argv.slice(2)

const pages = {
  async graphiql(page) {
    await page.goto(base + '/graphql?query=' + encodeURIComponent('subscription { count(to: 3) }'))
    await page.getByRole('button', { name: /Execute/ }).click({ timeout: 30_000 })
    // The editor puts each word into an element of its own.
    await page.waitForFunction(() => /"count":3/.test(document.body.innerText.replace(/\s/g, '')), null, { timeout: 30_000 })
    console.log('counted')
  },
  async events(page) {
    await page.goto(base + '/graphql')
    await page.evaluate(() => {
      const source = new EventSource('/graphql?query=' + encodeURIComponent('subscription { count(to: 1000000) }'))
      source.addEventListener('next', event => console.log('event ' + JSON.parse(event.data).data.count))
      source.onerror = () => console.log(source.readyState === EventSource.CLOSED ? 'closed for good' : 'error')
    })
    await new Promise(resolve => process.once('SIGTERM', resolve))
  },
}

const main = async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  page.on('console', message => console.log(message.text()))
  try {
    await pages[what](page)
  } finally {
    await browser.close()
  }
}
main().catch(e => { console.log('error: ' + e.stack); process.exit(1) })
