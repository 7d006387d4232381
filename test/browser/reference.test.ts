// Thorough: a browser reads the whole reference.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { launch, open, picture, sideways } from './open.js'

t.test('the API reference in a browser', { skip: missing('chromium') }, async (t) => {
  const browser = await launch(t)
  const posthorn = await startPosthorn(t)

  for (const [width, scheme] of [
    [1280, 'light'],
    [375, 'dark'],
  ] as const) {
    await t.test(`leads to each request at ${width} px, ${scheme}`, async (t) => {
      const { page, errors, asked } = await open(t, browser, width, scheme)
      await page.goto(`${posthorn.url}/reference`)
      t.equal(await sideways(page), 0)
      await picture(page, `reference-${width}-${scheme}`)
      await page.getByRole('link', { name: '/v1/emails/send' }).click()
      t.equal(await page.locator('h1').textContent(), 'Send an email')
      t.match(await page.locator('main').textContent(), /domain_not_verified/)
      t.equal(await sideways(page), 0)
      await picture(page, `reference-send-${width}-${scheme}`)
      await page.goto(`${posthorn.url}/reference/emailDelivered`)
      await picture(page, `reference-event-${width}-${scheme}`)
      t.same(errors, [], 'the browser has nothing to complain about')
      t.same(
        [...new Set(asked)],
        ['/reference', '/reference/sendEmail', '/reference/emailDelivered'],
      )
    })
  }

  await t.test('sends a mail when tried with a key, with the example as it stands', async (t) => {
    const { page, errors } = await open(t, browser, 1280)
    await page.goto(`${posthorn.url}/reference/sendEmail`)
    await page.getByLabel('API key').fill(posthorn.apiKey)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const answer = page.locator('[data-answer]')
    await answer.getByText('Email queued').waitFor()
    t.match(await answer.textContent(), /^200 /)
    const { id } = JSON.parse((await answer.textContent())?.replace(/^[^{]*/, '') ?? '')
    await page.goto(`${posthorn.url}/reference/getEmail`)
    await page.getByLabel('API key').fill(posthorn.apiKey)
    await page.getByLabel('id', { exact: true }).fill(id)
    await page.getByLabel('id', { exact: true }).press('Enter')
    await answer.getByText('"Your order 4711"').waitFor()
    await picture(page, 'reference-tried')
    t.same(errors, [])
  })

  await t.test('is whole without script', async (t) => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(`${posthorn.url}/reference/sendEmail`)
    t.match(
      await page.locator('pre').first().textContent(),
      /^curl -X POST .*"from": "Shop <orders@sender\.test>"/s,
    )
    t.notOk(await page.getByRole('button', { name: 'Send', exact: true }).isVisible())
  })
})
