// Thorough, turn 5: the editor of automations with script: cards in place, what is typed is kept, and nothing is lost when a log-in ends.
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch } from './open.js'

t.setTimeout(300_000)

t.test(
  'cards change in place and what is typed stays',
  { skip: missing('chromium') },
  async (t) => {
    buildScripts()
    const posthorn = await startPosthorn(t)
    const { url, accountId, store } = posthorn
    const owner = await logIn(posthorn, accountId, 'owner')
    const from = 'Shop <news@sender.test>'
    const making = { recipe: 'review', from, name: 'Asked' }
    const at = (await owner.post(`/a/${accountId}/automations/new`, making)).to
    const id = at.split('/').at(-2) ?? ''
    const [name = '', value = ''] = owner.cookie.split('=')
    const browser = await launch(t)
    const context = await browser.newContext()
    t.teardown(() => context.close())
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    // Made by the page: what was done is said until the next thing is done, and no longer.
    await page.goto(`${url}/a/${accountId}/automations/new`)
    await page.locator('[name=recipe][value=review]').check()
    await page.locator('[name=name]').fill('Said once')
    await page.getByRole('button', { name: 'Make it' }).click()
    const said = page.locator('.notice.good', { hasText: '“Said once” is made' })
    await said.waitFor()
    await page.locator('button[value="open:0.1"]').click()
    await said.waitFor({ state: 'detached' })

    // What is not right leads to its card, which has the focus then.
    await page.locator('.notice.bad a', { hasText: 'The question' }).click()
    t.equal(await page.evaluate('document.activeElement.id'), 'block-0.3')

    // A template is taken by its picture.
    await page.locator('button[value="open:0.3"]').click()
    await page.getByText('Choose by picture').click()
    await page.locator('.picture iframe').first().waitFor()
    await page.locator('button[value^="take:"]').last().click()
    await page.locator('summary', { hasText: 'Choose by picture' }).waitFor()
    t.equal(await page.evaluate('document.activeElement.closest("#open") !== null'), true)

    // Who adds a condition by keys goes on in it.
    await page.locator('button[value="open:0.0"]').click()
    await page.locator('[name="s.when"]').waitFor()
    await page.locator('button[value="rule:add.0"]').focus()
    await page.keyboard.press('Enter')
    await page.locator('#what-0').waitFor()
    t.equal(await page.evaluate('document.activeElement.id'), 'what-0')
    await page.goto(url + at)

    // By the keyboard: whoever adds a step goes on in its first field.
    await page.locator('[name="kind.0.0"]').selectOption('delay')
    await page.locator('button[value="add:0.0"]').focus()
    await page.keyboard.press('Enter')
    await page.locator('[name="s.amount"]').waitFor()
    const focused = () => page.evaluate<string>('document.activeElement.name')
    t.equal(await focused(), 's.name')
    t.equal(page.url(), url + at, 'the page is the same one')

    // The head says how it stands from then on, too.
    const lead = page.locator('.page-head .lead')
    t.match(await lead.textContent(), /^This is a draft/)
    await page.locator('.of-draft', { hasText: 'Throw the draft away' }).waitFor()

    // A choice shows what it asks for, and nothing of the others.
    t.equal(await page.locator('[name="s.time"]').count(), 0)
    await page.locator('[name="s.how"]').selectOption('until')
    await page.locator('[name="s.time"]').waitFor()
    t.equal(await page.locator('[name="s.amount"]').count(), 0)

    // What is chosen shows what it asks for, and whoever chooses stays there.
    await page.locator('button[value="open:0.0"]').click()
    await page.locator('[name="s.when"]').focus()
    await page.locator('[name="s.when"]').selectOption('$contact.date')
    await page.locator('[name="s.dateField"]').waitFor()
    t.equal(await focused(), 's.when')

    // So it is in the conditions of a step, by the arrows, too.
    await page.locator('[name="kind.0.1"]').selectOption('condition')
    await page.locator('button[value="add:0.1"]').click()
    await page.locator('#what-0').focus()
    await page.keyboard.press('ArrowDown')
    await page.waitForResponse((answer) => answer.url().endsWith('/edit/draft'))
    await page.locator('[data-kept]', { hasText: /^Kept$/ }).waitFor()
    t.equal(await page.evaluate('document.activeElement.id'), 'what-0')
    await page.locator('button[value="gone:0.2"]').click()
    await page.locator('#what-0').waitFor({ state: 'detached' })
    await page.locator('button[value="open:0.0"]').click()
    await page.locator('[name="s.dateField"]').waitFor()

    const draft = async () => (await posthorn.call('GET', `/v1/automations/${id}/draft`)).json
    await page.locator('[name="s.dateField"]').fill('born')
    await page.locator('[data-kept]', { hasText: /^Kept$/ }).waitFor()
    t.match((await draft()).steps[0].config, { date: { field: 'born' } })

    // Who leaves at once loses nothing either.
    await page.locator('[name="s.dateField"]').fill('leaving')
    await page.goto(`${url}/a/${accountId}/automations`)
    await eventually(async () => (await draft()).steps[0].config.date.field === 'leaving', 10_000)
    await page.goto(url + at)
    await page.locator('button[value="open:0.0"]').click()
    await page.locator('[name="s.dateField"]').waitFor()
    // Where it cannot be kept, they are asked.
    await page.route('**/edit/draft', (route) => route.abort())
    await page.locator('[name="s.dateField"]').fill('unkept')
    await page.locator('[data-kept]', { hasText: 'no way to the server' }).waitFor()
    const asked: string[] = []
    page.once('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.dismiss()
    })
    await page.goto(`${url}/a/${accountId}/automations`).catch(() => {})
    t.same(asked, ['beforeunload'])
    t.equal(page.url(), url + at, 'who stays has what they typed')
    t.equal(await page.locator('[name="s.dateField"]').inputValue(), 'unkept')
    await page.unroute('**/edit/draft')

    await store.write((tx) => tx.deleteFrom('sessions').execute())
    await page.locator('[name="s.dateField"]').fill('birthday')
    await page.locator('[data-kept]', { hasText: 'log in again' }).waitFor()
    t.equal(await page.locator('[name="s.dateField"]').inputValue(), 'birthday')
    await page.locator('button[value="open:0.2"]').click()
    await page.locator('[data-kept]', { hasText: 'Not done' }).waitFor()
    t.equal(await page.locator('[name="s.dateField"]').inputValue(), 'birthday')

    // Logged in again elsewhere, one goes on here.
    const again = await logIn(posthorn, accountId, 'owner')
    await context.addCookies([{ name, value: again.cookie.split('=')[1] ?? '', url }])
    await page.locator('[name="s.dateField"]').fill('birth')
    await page.locator('[data-kept]', { hasText: /^Kept$/ }).waitFor()
    t.match((await draft()).steps[0].config, { date: { field: 'birth' } })

    // Who saves when the log-in has ended, and logs in there, finds the last field too.
    await store.write((tx) => tx.deleteFrom('sessions').execute())
    await page.locator('[name="s.dateField"]').fill('born-last')
    await page.locator('button.primary', { hasText: 'Save' }).click()
    await page.waitForURL(/\/login/)
    const back = await logIn(posthorn, accountId, 'owner')
    await context.addCookies([{ name, value: back.cookie.split('=')[1] ?? '', url }])
    await page.goto(url + at)
    await eventually(async () => (await draft()).steps[0].config.date.field === 'born-last', 10_000)
    await page.getByText('days of “born-last”').or(page.getByText('“born-last”')).first().waitFor()
    t.same(errors, [])
  },
)

t.test(
  'a step is moved by keys, a wide drawing is read by scrolling, and a phone has room for ways in ways',
  { skip: missing('chromium') },
  async (t) => {
    buildScripts()
    const posthorn = await startPosthorn(t)
    const { url, accountId } = posthorn
    const owner = await logIn(posthorn, accountId, 'owner')
    const from = 'Shop <news@sender.test>'
    const making = { recipe: 'review', from, name: 'Moved' }
    const at = (await owner.post(`/a/${accountId}/automations/new`, making)).to
    const [name = '', value = ''] = owner.cookie.split('=')
    const browser = await launch(t)
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    t.teardown(() => context.close())
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()

    // Twice down is two places down: the focus goes with the step, and its place is said.
    await page.goto(url + at)
    await page.locator('button[value="down:0.1"]').focus()
    await page.keyboard.press('Enter')
    const said = page.locator('[data-moved]')
    await page.locator('[data-moved]', { hasText: 'is now step 3 of 4' }).waitFor()
    t.equal(await said.getAttribute('role'), 'status')
    t.equal(await page.evaluate('document.activeElement.value'), 'down:0.2')
    await page.keyboard.press('Enter')
    await page.locator('[data-moved]', { hasText: 'is now step 4 of 4' }).waitFor()
    t.match(await said.textContent(), /Wait (1 week|7 days)/)
    t.equal(await page.evaluate('document.activeElement.closest(".block").id'), 'open')
    await page.keyboard.press('Enter')

    const asks = { field: 'contact.firstName', operator: 'exists' }
    // A question in each way of a question, four times: 16 ends side by side, at the end of one way eight deep.
    const steps: object[] = [{ key: 'start', type: 'trigger', config: { eventName: 'x' } }]
    const connections: object[] = []
    const grow = (before: string, type: string, depth: number) => {
      const key = `s${steps.length}`
      steps.push(
        depth === 0
          ? { key, type: 'exit', config: { reason: 'over' } }
          : { key, type: 'condition', config: asks },
      )
      connections.push({ from: before, to: key, type })
      if (depth === 0) return
      grow(key, 'condition_met', depth - 1)
      grow(key, 'condition_not_met', depth > 4 ? 0 : depth - 1)
    }
    grow('start', 'default', 8)
    const { json } = await posthorn.call('POST', '/v1/automations', {
      body: { name: 'Deep', steps, connections },
    })
    const deep = `${url}/a/${accountId}/automations/${json.id}`
    await page.goto(deep)
    const box = page.getByRole('region', { name: /The flow as a drawing/ })
    const looked = await page.evaluate(`(() => {
      const element = document.querySelector('.flow')
      const svg = element.querySelector('svg')
      const { width, height } = svg.getBoundingClientRect()
      const { viewBox } = svg
      return {
        scale: [width / viewBox.baseVal.width, height / viewBox.baseVal.height],
        scrolls: element.scrollWidth > element.clientWidth,
        page: document.documentElement.scrollWidth <= innerWidth,
      }
    })()`)
    t.same(looked, { scale: [1, 1], scrolls: true, page: true })
    await box.focus()
    await page.keyboard.press('ArrowRight')
    let scrolled: unknown = 0
    for (let tries = 0; tries < 100 && scrolled === 0; tries++) {
      await page.waitForTimeout(50)
      scrolled = await page.evaluate('document.querySelector(".flow").scrollLeft')
    }
    t.not(scrolled, 0)

    await page.setViewportSize({ width: 390, height: 844 })
    for (const path of ['', '/edit']) {
      await page.goto(deep + path)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, path)
    }
    const narrowest = await page.evaluate(
      'Math.min(...[...document.querySelectorAll(".block > .buttons")].map((one) => one.clientWidth))',
    )
    t.ok((narrowest as number) > 180, `${narrowest} px for the buttons of the deepest step`)
  },
)
