// Thorough, turn 3: a browser builds a welcome series of four mails with a branch by keyboard alone, without script too.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch } from './open.js'

t.setTimeout(600_000)

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script'
  t.test(
    `a series with a branch by keyboard alone, ${how}`,
    { skip: missing('chromium') },
    async (t) => {
      buildScripts()
      const posthorn = await startPosthorn(t)
      const { url, accountId, store } = posthorn
      const plans = loadPlans(packageFile('config/plans.toml'))
      const plan = findPlan(plans.marketing, 'Marketing Plus')
      await store.write((tx) => setMarketingPlan(tx, accountId, plan))
      for (const slug of ['one', 'two', 'three', 'four']) {
        const body = { slug, subject: `Mail ${slug}`, html: '<p>Hello</p>' }
        await posthorn.call('POST', '/v1/templates', { body })
      }
      const { cookie } = await logIn(posthorn, accountId, 'owner')
      const [name = '', value = ''] = cookie.split('=')
      const browser = await launch(t)
      const context = await browser.newContext({ javaScriptEnabled })
      t.teardown(() => context.close())
      await context.addCookies([{ name, value, url }])
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', (error) => errors.push(error.message))

      /** Goes on by Tab until what has the focus is called so, as somebody does who has no mouse. */
      const tabTo = async (called: RegExp) => {
        // With script what was pressed leaves the focus where one goes on.
        for (let n = javaScriptEnabled ? 0 : 1; n < 250; n++) {
          if (n > 0) await page.keyboard.press('Tab')
          const focused = page.locator(':focus')
          if ((await focused.count()) === 0) continue
          const label = await focused.evaluate(nameOf)
          if (called.test(label)) return
        }
        throw new Error(`Tab never came to ${called}: ${page.url()}`)
      }
      const press = async (called: RegExp) => {
        await tabTo(called)
        await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
      }
      /** A button that changes the cards: with script in place. */
      const change = async (called: RegExp) => {
        if (!javaScriptEnabled) return await press(called)
        await tabTo(called)
        await Promise.all([
          page.waitForResponse((answer) => answer.url().includes('/edit/draft')),
          page.keyboard.press('Enter'),
        ])
        await isFree()
      }
      // Not waitForFunction: the pages' policy refuses the `eval` with which it looks a second time.
      const isFree = () => page.locator('#editor:not([aria-busy=true])').waitFor()
      /** Typed letters choose in a select. */
      const choose = async (called: RegExp, letters: string) => {
        await tabTo(called)
        await page.keyboard.type(letters)
      }
      const type = async (called: RegExp, text: string) => {
        await tabTo(called)
        await page.keyboard.press('Control+A')
        await page.keyboard.type(text)
      }
      const add = async (after: string | undefined, letters: string) => {
        await page.reload()
        const where = after === undefined ? 'at the beginning' : `after ${after}`
        await choose(new RegExp(`^(Then|Begin with) ${where}$`), letters)
        await change(new RegExp(`^Add ${where}$`))
      }
      const mail = async (slug: string) => {
        await type(/^Name/, `Mail ${slug}`)
        await choose(/^Template/, slug)
        await type(/^From/, 'Shop <news@sender.test>')
        await press(/^Save$/)
      }
      await page.goto(`${url}/a/${accountId}/automations`)
      await press(/^New automation$/)
      // The last of the choices is the empty one.
      await tabTo(/^Welcome series/)
      await page.keyboard.press('ArrowUp')
      await choose(/^Which list begins it/, 'Any')
      await type(/^Name/, 'Welcome')
      await type(/^From/, 'Shop <news@sender.test>')
      await press(/^Make it$/)
      const id = page.url().split('/').at(-2) ?? ''

      await add('When somebody joins a list', 'Send')
      await mail('one')
      await add('Mail one', 'Wait')
      await type(/^How long/, '3')
      await press(/^Save$/)
      await add('Wait 3 days', 'Ask')
      await type(/^Name/, 'Was it opened')
      await choose(/^What$/, 'The mail')
      await choose(/^How$/, 'holds')
      await press(/^Save$/)
      await add(undefined, 'Send')
      await mail('two')
      await add(undefined, 'Send')
      await mail('three')
      await add('Was it opened', 'Send')
      await mail('four')
      const { json } = await posthorn.call('GET', `/v1/automations/${id}`)
      t.same(
        json.connections
          .map(({ from, to, type }: Record<string, string>) => `${from} ${type} ${to}`)
          .sort(),
        [
          'if condition_met mail-2',
          'if condition_not_met mail-3',
          'mail default wait',
          'mail-2 default mail-4',
          'mail-3 default mail-4',
          'mail-4 default end',
          'start default mail',
          'wait default if',
        ],
      )
      await page.goto(`${url}/a/${accountId}/automations/${id}/enable`)
      await press(/^Turn it on$/)
      t.equal((await posthorn.call('GET', `/v1/automations/${id}`)).json.status, 'enabled')
      t.same(errors, [])
    },
  )
}

/** What a reader of the screen calls an element. */
const nameOf = (element: {
  getAttribute(name: string): string | null
  textContent: string | null
  labels?: ArrayLike<{ textContent: string | null }>
}): string =>
  (
    element.getAttribute('aria-label') ??
    element.labels?.[0]?.textContent ??
    element.textContent ??
    ''
  )
    .replace(/\s+/g, ' ')
    .trim()
