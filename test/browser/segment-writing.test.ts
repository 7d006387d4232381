// Thorough, turn 1: a segment is written with script: Return loses nothing, the count comes while one types, conditions show what fits.
import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch, picture, sideways } from './open.js'

t.setTimeout(300_000)

t.test('a segment is written while it is counted', { skip: missing('chromium') }, async (t) => {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const { url, accountId } = posthorn
  const ask = (path: string, body: object) => posthorn.call('POST', `/v1${path}`, { body })
  const list = (await ask('/contacts/lists', { name: 'Readers' })).json.id
  for (const [n, town] of ['Lagos', 'LAGOS', 'Accra', 'Lagos'].entries()) {
    await ask(`/contacts/${list}`, { email: `c${n}@example.test`, metadata: { town } })
  }
  await ask('/suppressions', { email: 'c1@example.test' })
  const owner = await logIn(posthorn, accountId, 'owner')
  const [name = '', value = ''] = owner.cookie.split('=')
  const browser = await launch(t)
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  t.teardown(() => context.close())
  await context.addCookies([{ name, value, url }])
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(`${url}/a/${accountId}/segments/new`)
  const counted = (words: RegExp) => page.locator('#counted', { hasText: words }).waitFor()
  const focused = () => page.evaluate<string>('document.activeElement.id')

  // What is chosen shows what fits it, and whoever chooses stays there.
  await page.locator('#what-0').focus()
  await page.locator('#what-0').selectOption({ label: 'town' })
  await page.locator('#than-0[list]').waitFor()
  t.equal(await focused(), 'what-0')
  t.notMatch(await page.locator('#how-0').textContent(), /in the last|at least|holds/)
  t.same(
    await page
      .locator('#values-0 option')
      .evaluateAll((all) => all.map((one) => one.getAttribute('value'))),
    ['Lagos', 'Accra', 'LAGOS'],
  )
  await page.locator('#how-0').selectOption('eq')
  await page.waitForTimeout(800)

  // Both numbers come while one types; nothing is pressed.
  await page.locator('#than-0').pressSequentially('lagos')
  await counted(/3 people fit\. 2 of them get your marketing mail; of the others 1 suppressed/)
  t.equal(await page.locator('#than-0').inputValue(), 'lagos')
  t.equal(await focused(), 'than-0')

  // Return is no 'Remove condition 1'.
  await page.keyboard.press('Enter')
  await page.waitForTimeout(500)
  t.equal(await page.locator('#than-0').inputValue(), 'lagos')
  await page.locator('[name=name]').fill('In Lagos')
  await page.keyboard.press('Enter')
  await page.waitForTimeout(500)
  t.equal(await page.locator('#than-0').inputValue(), 'lagos')
  t.equal(await page.locator('[name=name]').inputValue(), 'In Lagos')
  await picture(page, 'segment-1280-counted')

  // A group within a group; whoever adds by the keyboard goes on in what was added.
  await page.locator('button[value="group.0"]').focus()
  await page.keyboard.press('Enter')
  await page.locator('#what-2').waitFor()
  t.equal(await focused(), 'what-1')
  await page.locator('button[value="group.1"]').click()
  await page.locator('#what-4').waitFor()
  t.equal(await page.locator('button[value="group.2"]').count(), 0, 'four levels')
  for (const at of [1, 2, 3, 4]) {
    await page.locator(`#what-${at}`).selectOption('contact.createdAt')
    await page.locator(`#how-${at} option[value=within]`).waitFor({ state: 'attached' })
    await page.locator(`#than-${at}`).fill('30 days')
  }
  await page.locator('#how-4').selectOption('lt')
  await page.locator('#than-4').fill('banana')
  await counted(/Condition 5: write a date, such as/)
  await page.locator('button[value="show:4"]').click()
  await page.waitForTimeout(500)
  await page.locator('#than-4').fill('')
  await page.locator('button[value="show:4"]').click()
  await page.locator('#than-4[type=date]').waitFor()
  await page.locator('#than-4').fill('2000-01-01')
  await counted(/3 people fit/)
  await picture(page, 'segment-1280-groups')
  await page.setViewportSize({ width: 390, height: 844 })
  t.equal(await sideways(page), 0)
  await picture(page, 'segment-390-groups')
  await page.locator('button', { hasText: /^Save$/ }).click()
  await page.locator('h1', { hasText: 'In Lagos' }).waitFor()
  await picture(page, 'segment-390-one')
  await page.locator('a', { hasText: 'Change it' }).click()
  t.equal(await page.locator('#than-4').inputValue(), '2000-01-01')
  t.equal(await page.locator('#than-1').inputValue(), '30 days')
  t.same(errors, [])
})
