// Thorough: log-ins by hand in a browser, some of them a minute long.
// What people come to do, from the first link to the last click, in a real browser.
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { makeSetupLink } from '../../src/people/index.js'
import { pauseByOperator } from '../../src/protection/operator.js'
import { logIn } from '../support/log-in.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { goodPassword } from '../support/visitor.js'
import { launch, open, ownErrors, sideways } from './open.js'

const skip = missing('chromium')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first()

/** Opens the first link and becomes the operator, who owns the only account too. */
async function setUp(posthorn: Posthorn, page: Page): Promise<void> {
  const path = await posthorn.store.write((tx) => makeSetupLink(tx, Date.now()))
  await page.goto(posthorn.url + path)
  await page.getByLabel('Your name').fill('Olga')
  await page.getByLabel('Your mail address').fill('olga@example.test')
  await page.getByLabel('A password').fill(goodPassword)
  await button(page, 'Set up').click()
  await page.waitForURL((url) => !url.pathname.startsWith('/setup'))
}

t.test('from the first link to a mail that is delivered', { skip }, async (t) => {
  const posthorn = await startPosthorn(t)
  const { page, errors } = await open(t, await launch(t), 1280)
  await setUp(posthorn, page)

  // The second factor, and a log-in that asks for it. A code is good once, so the next one is taken there.
  await page.goto(`${posthorn.url}/me/totp`)
  const secret = (await page.locator('details code').textContent())?.replace(/\s/g, '') ?? ''
  const totp = new TOTP({ secret })
  await page.getByLabel('The six digits').fill(totp.generate())
  await button(page, 'Add the app').click()
  await page.getByText('I have kept them').click()
  await page.locator('details.menu summary').first().click()
  await button(page, 'Log out').click()
  await page.goto(`${posthorn.url}/login`)
  await page.getByLabel('Mail address').fill('olga@example.test')
  await page.getByLabel('Password').fill(goodPassword)
  await button(page, 'Log in').click()
  await page.getByLabel('Code').fill(totp.generate({ timestamp: Date.now() + 30_000 }))
  await button(page, 'Log in').click()
  await page.waitForURL((url) => !url.pathname.startsWith('/login'))

  const base = `${posthorn.url}/a/${posthorn.accountId}`
  await page.goto(`${base}/domains/new`)
  await page.getByLabel('Domain').fill('shop.test')
  await button(page, 'Add the domain').click()
  await page.getByRole('heading', { name: 'shop.test' }).waitFor()
  t.match(await page.locator('main').textContent(), /_domainkey/)
  await button(page, 'Check again').click()
  await page.getByText('_domainkey').first().waitFor()

  await page.goto(`${base}/keys/new`)
  await page.getByLabel('Name').fill('Web shop')
  await button(page, 'Create the key').click()
  await page.getByRole('heading', { name: 'Your new key' }).waitFor()
  const key = (await page.locator('.copy code').first().textContent()) ?? ''
  t.match(key, /^ph_/)
  const sent = await posthorn.call('GET', '/v1/emails/01900000-0000-7000-8000-000000000000', {
    key,
  })
  t.equal(sent.status, 404, 'the key is one of the account')

  await page.goto(`${base}/emails/new`)
  await page.getByLabel('From').fill('Shop <a@sender.test>')
  await page.getByLabel('To', { exact: true }).fill('ann@example.org')
  await page.getByLabel('Subject').fill('A first mail')
  await page.getByLabel('Content').fill('Hello, Ann.')
  await button(page, 'Send').click()
  await page.getByRole('heading', { name: 'A first mail' }).waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await posthorn.until(id, ({ status }) => status === 'delivered')
  await page.reload()
  t.match(await page.locator('h1').textContent(), /delivered/i)
  await page.goto(`${base}/emails?q=ann@example.org`)
  await link(page, 'A first mail').waitFor()
  await page.goto(`${posthorn.url}/sandbox`)
  await link(page, /A first mail/).click()
  await page.getByRole('link', { name: /^Checks/ }).click()
  await page
    .getByText(/signature by sender\.test/)
    .first()
    .waitFor()
  await page.goto(`${base}/audit`)
  const log = (await page.locator('main').textContent()) ?? ''
  for (const action of ['domain', 'key']) t.match(log, action)
  t.notMatch(log, key)
  t.same(ownErrors(errors), [])
})

t.test('who is invited comes in, and sees what a member may', { skip }, async (t) => {
  const posthorn = await startPosthorn(t)
  const browser = await launch(t)
  const { page, errors } = await open(t, browser, 1280)
  await setUp(posthorn, page)
  const base = `${posthorn.url}/a/${posthorn.accountId}`
  await page.goto(`${base}/team`)
  await page.getByLabel('Mail address').fill('max@example.test')
  await button(page, 'Invite').click()
  const invitation = (await page.locator('.copy code').textContent()) ?? ''
  t.match(invitation, '/invite/')

  const max = await open(t, browser, 375)
  await max.page.goto(posthorn.url + new URL(invitation, posthorn.url).pathname)
  await max.page.getByLabel('Your name').fill('Max')
  await max.page.getByLabel('A password').fill(goodPassword)
  await button(max.page, 'Join').click()
  await max.page.waitForURL((url) => !url.pathname.startsWith('/invite'))
  await max.page.goto(base)
  t.equal(await sideways(max.page), 0)
  await max.page.goto(`${base}/emails/new`)
  t.ok(await button(max.page, 'Send').isVisible(), 'a member sends')
  await max.page.goto(`${base}/keys`)
  t.equal(await max.page.getByRole('link', { name: /Create/ }).count(), 0, 'and makes no keys')
  t.equal((await max.page.goto(`${base}/keys/new`))?.status(), 403)
  t.equal((await max.page.goto(`${posthorn.url}/operator`))?.status(), 404)
  await page.goto(`${base}/team`)
  t.match(await page.locator('main').textContent(), /max@example\.test/)
  t.same(ownErrors(errors), [])
})

t.test('an account is paused, sees why, and an operator clears it', { skip }, async (t) => {
  const posthorn = await startPosthorn(t)
  const { store, accountId, url } = posthorn
  const { protection } = loadConfig({ env: {} })
  await store.write((tx) =>
    pauseByOperator(tx, {
      accountId,
      who: 'test',
      note: 'too many',
      now: Date.now(),
      settings: protection,
      reason: 'bounce',
      marketing: false,
    }),
  )
  const browser = await launch(t)
  const look = async (role: 'owner' | 'operator') => {
    const { cookie } = await logIn(posthorn, accountId, role)
    const [name = '', value = ''] = cookie.split('=', 2)
    const opened = await open(t, browser, 1280)
    await opened.page.context().addCookies([{ name, value, url }])
    return opened.page
  }
  const owner = await look('owner')
  await owner.goto(`${url}/a/${accountId}`)
  t.match(await owner.locator('main').textContent(), /paused/i)
  const operator = await look('operator')
  await operator.goto(`${url}/operator/accounts/${accountId}`)
  await operator.getByLabel('Why you clear it').fill('The list was cleaned')
  await button(operator, 'Clear the pause').click()
  await button(operator, 'Clear the pause').waitFor({ state: 'detached' })
  await operator.goto(`${url}/operator/accounts/${accountId}/rates`)
  t.match(await operator.locator('main').textContent(), /The list was cleaned/)
  const body = { from: 'a@sender.test', to: 'ann@example.org', subject: 'x', html: '<p>x</p>' }
  t.equal((await posthorn.send(body)).status, 200, 'mail goes again')
})

t.test('a mail is sent with the keyboard alone', { skip }, async (t) => {
  const posthorn = await startPosthorn(t)
  const { page } = await open(t, await launch(t), 1280)
  await setUp(posthorn, page)
  const tabTo = async (test: Test, what: string) => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab')
      const said = await page.evaluate<string>(
        `(() => { const one = document.activeElement; return one.labels?.[0]?.innerText || one.innerText || '' })()`,
      )
      if (said.trim().startsWith(what)) return
    }
    test.fail(`${what} is not reached by Tab`)
  }
  await page.goto(`${posthorn.url}/a/${posthorn.accountId}`)
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content')
  await page.keyboard.press('Enter')
  await tabTo(t, 'New mail')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/emails/new')
  for (const [field, text] of [
    ['From', 'a@sender.test'],
    ['To', 'ann@example.org'],
    ['Subject', 'By keys'],
    ['Content', 'Hello'],
  ] as const) {
    await tabTo(t, field)
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(text)
  }
  await tabTo(t, 'Send')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'By keys' }).waitFor()
})
