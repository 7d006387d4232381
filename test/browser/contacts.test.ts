// Thorough: a journey in a browser, with script and without.
// What a marketer does with contacts, from the first one on, in a real browser; once without script.
import t from 'tap'
import { systemClock as clock } from '../../src/clock/index.js'
import { createList } from '../../src/contacts/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { launch, picture, sideways } from './open.js'

t.setTimeout(180_000)

t.test(
  'contacts are added, found, put on a list and taken off',
  { skip: missing('chromium') },
  async (t) => {
    const posthorn = await startPosthorn(t)
    const { store, accountId, url } = posthorn
    for (const name of ['Readers', 'Staff']) await createList({ store, clock }, accountId, name)
    const { cookie } = await logIn(posthorn, accountId, 'member')
    const browser = await launch(t)
    const base = `${url}/a/${accountId}`
    for (const javaScriptEnabled of [true, false]) {
      const width = javaScriptEnabled ? 1280 : 390
      const context = await browser.newContext({
        javaScriptEnabled,
        viewport: { width, height: 800 },
      })
      const [name = '', value = ''] = cookie.split('=')
      await context.addCookies([{ name, value, url }])
      const page = await context.newPage()
      const who = javaScriptEnabled ? 'ann' : 'bob'
      await page.goto(`${base}/contacts`)
      await page.goto(`${base}/contacts/new`)
      await page.getByLabel('Address', { exact: true }).fill(`${who}@gmial.com`)
      await page.getByLabel('First name').fill(who)
      await page.getByLabel('Readers').check()
      await page.getByLabel('How they agreed').fill('At our shop')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText(`Is it ${who}@gmail.com?`).first().waitFor()
      await picture(page, `contacts-typo-${width}`)
      t.equal(
        await page.getByLabel('How they agreed').inputValue(),
        'At our shop',
        'what was typed',
      )
      await page.getByLabel('Address', { exact: true }).fill(`${who}@gmail.com`)
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: `${who}@gmail.com` }).waitFor()
      await page.getByText('Gets your marketing mail').waitFor()

      await page.goto(`${base}/contacts`)
      await page.getByLabel('Search').fill(who)
      await page.getByRole('button', { name: 'Search', exact: true }).click()
      await page.getByRole('checkbox', { name: `${who}@gmail.com` }).check()
      await page.locator('#ticked-list').selectOption({ label: 'Staff' })
      await page.getByRole('button', { name: 'Add to this list…' }).click()
      await page.getByRole('heading', { level: 1, name: 'Add 1 contact to “Staff”?' }).waitFor()
      t.equal(await sideways(page), 0)
      await picture(page, `contacts-confirm-${width}`)
      await page.getByRole('button', { name: 'Add to “Staff”' }).click()
      await page.getByText('1 contact put on “Staff”').waitFor()

      await page.getByRole('link', { name: `${who}@gmail.com` }).click()
      await page.getByText('Unsubscribe…').click()
      await page.getByLabel('Who asked for it, and how').fill('by phone')
      await page.getByRole('button', { name: 'Unsubscribe', exact: true }).click()
      await page.getByText(/Gets none: unsubscribed on/).waitFor()
      await picture(page, `contacts-unsubscribed-${width}`)
      await context.close()
    }
  },
)
