// Thorough, turn 4: a browser writes campaigns, from nothing to a mail that is read.
// A draft in a real browser: it is kept as it is typed, and whoever has changed it meanwhile loses nothing.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { fakeMx } from '../support/fake-mx.js'
import { logIn } from '../support/log-in.js'
import { directTo, startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch, open } from './open.js'

const sendLarge = `(async () => {
  const chosen = new DataTransfer()
  for (const name of ['a.jpg', 'b.jpg']) {
    const canvas = Object.assign(document.createElement('canvas'), { width: 2400, height: 900 })
    canvas.getContext('2d').fillRect(0, 0, 999, 99)
    const bytes = await new Promise((done) => canvas.toBlob(done, 'image/jpeg'))
    chosen.items.add(new File([bytes], name, { type: 'image/jpeg' }))
  }
  const field = document.querySelector('input[type=file]')
  field.files = chosen.files
  field.dispatchEvent(new Event('change', { bubbles: true }))
  field.form.requestSubmit()
})()`

t.test('a draft is kept as it is typed', { skip: missing('chromium') }, async (t) => {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const { url, accountId, store } = posthorn
  const plans = loadPlans(packageFile('config/plans.toml'))
  const plan = findPlan(plans.marketing, 'Marketing Plus')
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const { cookie } = await logIn(posthorn, accountId, 'owner')
  const [name = '', value = ''] = cookie.split('=')
  const browser = await launch(t)
  const { page, errors } = await open(t, browser, 1280)
  await page.context().addCookies([{ name, value, url }])
  await page.goto(`${url}/a/${accountId}/campaigns/new?with=html`)

  const kept = page.getByRole('status').getByText('Kept', { exact: true })
  const subject = page.getByLabel('Subject')
  await subject.pressSequentially('Autumn')
  await kept.waitFor()
  const id = page.url().split('/').at(-1) ?? ''
  const draft = async () => (await posthorn.call('GET', `/v1/broadcasts/${id}`)).json
  t.match(await draft(), { status: 'draft', subject: 'Autumn' })
  t.equal(await page.evaluate('document.activeElement.name'), 'subject', 'the focus stays')
  await subject.pressSequentially(' leaves')
  await kept.waitFor()
  t.match(await draft(), { subject: 'Autumn leaves' })
  const changes = await store.read
    .selectFrom('audit_log')
    .select('action')
    .where('action', 'like', 'broadcast.%')
    .execute()
  t.same(
    changes.map(({ action }) => action),
    ['broadcast.create', 'broadcast.change'],
  )

  await posthorn.call('PATCH', `/v1/broadcasts/${id}`, { body: { subject: 'By another' } })
  await subject.pressSequentially('!')
  await page.getByRole('status').getByText('Somebody else has saved this draft').waitFor()
  t.match(await draft(), { subject: 'By another' })

  // Two from a camera, sent before they are made smaller.
  await page.goto(`${url}/a/${accountId}/pictures`)
  await page.evaluate(sendLarge)
  await page.getByText('2 pictures are added').waitFor()
  t.equal(await page.getByText('1600 × 600', { exact: true }).count(), 2)

  await page.goto(`${url}/a/${accountId}/campaigns/new`)
  await page.evaluate('window.isStill = true')
  const card = (at: number) => page.locator(`#block-${at}`)
  const kinds = () =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('.blocks > .block > legend')].map((l) => l.innerText)",
    )
  const first = await kinds()
  await card(0).getByLabel('Words', { exact: true }).fill('Typed')
  await card(0).getByLabel('Then').last().selectOption('Line')
  await card(0).getByRole('button', { name: 'Add', exact: true }).last().click()
  await page.locator('#block-1 legend', { hasText: 'Line' }).waitFor()
  t.equal(await card(0).getByLabel('Words', { exact: true }).inputValue(), 'Typed')
  await card(1).getByRole('button', { name: 'Up: Line 2' }).press('Enter')
  await page.locator('#block-0 legend', { hasText: 'Line' }).waitFor()
  t.match(
    await page.evaluate('document.activeElement.ariaLabel'),
    /: Line 1/,
    'by keys, it goes on',
  )
  await card(0)
    .locator('.handle')
    .dragTo(card(1), { targetPosition: { x: 60, y: 180 } })
  await page.locator('#block-1 legend', { hasText: 'Line' }).waitFor()
  t.equal(await card(0).getByLabel('Words', { exact: true }).inputValue(), 'Typed')
  await card(1).getByRole('button', { name: 'Remove: Line 2' }).click()
  await page.locator('#block-1 legend', { hasText: 'Line' }).waitFor({ state: 'detached' })
  t.same(await kinds(), first)
  t.equal(await page.evaluate('document.activeElement.value'), 'back:1', 'one regrets it there')
  await card(0).getByText('Look', { exact: true }).click()
  await page.getByRole('button', { name: 'Put it back: Line 2' }).click()
  await page.locator('#block-1 legend', { hasText: 'Line' }).waitFor()
  t.ok(await card(0).getByLabel('Where it stands').isVisible(), 'what somebody opened is open')
  await card(1).getByRole('button', { name: 'Remove: Line 2' }).click()
  await page.locator('#block-1 legend', { hasText: 'Line' }).waitFor({ state: 'detached' })
  // Over a slow line somebody goes on typing while a card comes.
  await page.route('**/preview', async (route) => {
    await new Promise((done) => setTimeout(done, 400))
    await route.continue()
  })
  const words = page.getByLabel('Words', { exact: true })
  await page.getByRole('button', { name: 'Duplicate: Heading 1' }).click()
  const text = page.locator('textarea[name="b.1.text"]')
  await text.fill('')
  await text.pressSequentially('ABCDEFGHIJKLMNOP', { delay: 40 })
  await page.locator('#block-2 legend', { hasText: 'Text 3' }).waitFor()
  await page.keyboard.type('QR')
  t.equal(await words.nth(2).inputValue(), 'ABCDEFGHIJKLMNOPQR', 'it stays in its card')
  t.equal(await words.nth(1).inputValue(), 'Typed')
  await page.unroute('**/preview')
  await page.route('**/preview', (route) => route.abort())
  await page.getByRole('button', { name: 'Down: Heading 1' }).click()
  await page.getByRole('status').getByText('Not done: there is no way to the server').waitFor()
  await page.unroute('**/preview')
  t.equal(await page.evaluate('window.isStill'), true, 'the page was never loaded anew')
  await kept.waitFor()
  t.match(await page.locator('#preview').textContent(), 'Typed')
  // The blocks and what they make stand side by side, the whole width of a desktop's mail in sight.
  const box = async (selector: string) => {
    const { x = 0, width = 0 } = (await page.locator(selector).boundingBox()) ?? {}
    return { left: x, right: x + width }
  }
  const [source, frame] = [await box('.editor-source'), await box('iframe.look-light')]
  t.ok(frame.left >= source.right && frame.right <= 1280, JSON.stringify([source, frame]))
  t.equal(await page.evaluate("document.querySelector('iframe.look-light').offsetWidth"), 640)

  // Its buttons lead to the draft that it has become, and make no other.
  await page.getByRole('button', { name: 'Preview', exact: true }).last().click()
  await page.waitForURL(/campaigns\/[0-9a-f-]{36}\/preview/)
  const made = await store.read.selectFrom('broadcasts').select('id').execute()
  t.equal(made.length, 2)
  while ((await kinds()).length > 0) {
    const before = (await kinds()).length
    await page.locator('button[value="gone:0"]').press('Enter')
    const lastCard = page.locator('.blocks > .block').nth(before - 1)
    await lastCard.waitFor({ state: 'detached' })
  }
  t.equal(await page.evaluate('document.activeElement.value'), 'back:0', 'to put it back is next')
  t.equal(await page.locator('button[name=do][hidden]').count(), 0, 'what drew cards is gone')
  t.same(
    errors.filter((error) => !/422|ERR_FAILED/.test(error)),
    [],
  )
})

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with script' : 'without script'
  t.test(
    `from nothing to a newsletter that is read, ${how}`,
    { skip: missing('chromium') },
    async (t) => {
      buildScripts()
      const mx = await fakeMx(t)
      const posthorn = await startPosthorn(t, directTo(mx))
      const { url, accountId, store } = posthorn
      const plans = loadPlans(packageFile('config/plans.toml'))
      const plan = findPlan(plans.marketing, 'Marketing Plus')
      await store.write((tx) => setMarketingPlan(tx, accountId, plan))
      const { cookie } = await logIn(posthorn, accountId, 'owner')
      const [name = '', value = ''] = cookie.split('=')
      const browser = await launch(t)
      const context = await browser.newContext({ javaScriptEnabled })
      t.teardown(() => context.close())
      await context.addCookies([{ name, value, url }])
      const page = await context.newPage()
      let clicks = 0
      const click = async (role: 'link' | 'button' | 'checkbox', label: string | RegExp) => {
        clicks++
        await page.getByRole(role, { name: label, exact: true }).first().click()
      }
      await page.goto(`${url}/a/${accountId}`)

      await click('link', 'Lists')
      await click('link', 'New list')
      await page.getByLabel('Name').fill('Readers')
      await click('button', 'Make the list')
      await click('link', 'Contacts')
      await click('link', 'Add a contact')
      await page.getByLabel('Address').fill('ann@x.test')
      await page.getByLabel('First name').fill('Ann')
      await click('checkbox', 'Readers')
      await page.getByLabel('How they agreed').fill('At our shop, 28 November')
      await click('button', 'Add')

      await click('link', 'Campaigns')
      await click('link', 'New campaign')
      await page.getByLabel('Subject').fill('Autumn')
      await page
        .getByLabel('Words')
        .first()
        .fill('Leaves fall, {{ firstName | default: "friend" }}')
      await click('checkbox', 'Readers')
      await click('button', 'Save and check')
      await page.getByText('1 person, of whom 1 can be mailed').waitFor()
      await click('button', 'Send it')
      await page.getByRole('button', { name: 'Take it back' }).waitFor()
      // The minute in which it can be taken back.
      await store.write((tx) =>
        tx.updateTable('broadcasts').set({ scheduled_at: Date.now() }).execute(),
      )
      while (mx.messages.length === 0) await new Promise((done) => setTimeout(done, 100))
      const { to = [], raw = Buffer.alloc(0) } = mx.messages[0] ?? {}
      t.same(to, ['ann@x.test'])
      t.match(
        raw.toString().replace(/=\r?\n/g, ''),
        /text\/plain[\s\S]*Leaves fall, Ann[\s\S]*text\/html[\s\S]*Leaves fall, Ann/,
      )
      t.comment(`${clicks} clicks ${how}`)
    },
  )
}
