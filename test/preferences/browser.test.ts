import { type Browser, chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { suppressedAmong } from '../../src/suppression/index.js'
import { missing } from '../support/tools.js'
import { startPreferences } from './start.js'

// Where to leave pictures for people, if anywhere.
const pictures = process.env.SCREENSHOTS
const address = `${'long.'.repeat(12)}name@${'sub-domain.'.repeat(15)}example.test`

async function open(t: Test, width: number) {
  const site = await startPreferences(t, 'City library of the longest street in town')
  const browser: Browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
  })
  t.teardown(() => browser.close())
  const page = await browser.newPage({ viewport: { width, height: 700 } })
  const errors: string[] = []
  page.on('console', (message) => {
    // Browsers ask for this one by themselves.
    const isIcon = message.location().url.endsWith('/favicon.ico')
    if (message.type() === 'error' && !isIcon) errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  return {
    ...site,
    page,
    errors,
    async fits(name: string) {
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      t.ok(Number(overflow) <= 0, `${name} is no wider than ${width} px`)
      for (const button of await page.locator('button').all()) {
        t.ok(((await button.boundingBox())?.height ?? 0) >= 44, 'a thumb hits the button')
      }
      if (pictures) await page.screenshot({ path: `${pictures}/unsubscribe-${name}-${width}.png` })
    },
  }
}

for (const width of [375, 1280]) {
  t.test(
    `a person unsubscribes and comes back, ${width} px wide`,
    { skip: missing('chromium') },
    async (t) => {
      const { page, errors, fits, url, store, accountId, origin } = await open(t, width)
      const blocked = async () =>
        (await suppressedAmong(store.read, accountId, [address], 'marketing')).size
      await page.goto(url(address))
      t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Unsubscribe?')
      await fits('ask')
      t.equal(await blocked(), 0)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
      await fits('done')
      t.equal(await blocked(), 1)
      await page.getByRole('button', { name: 'Undo: subscribe again' }).click()
      await page.getByRole('heading', { name: 'You are subscribed again' }).waitFor()
      await fits('back')
      t.equal(await blocked(), 0)
      t.same(errors, [], 'nothing for the browser to complain about')
      await page.goto(`${origin}/unsubscribe/nonsense`)
      await fits('unknown')
      t.equal(await page.locator('form').count(), 0)
    },
  )
}
