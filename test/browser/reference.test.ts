import t from 'tap'
import type { Document } from '../../src/openapi/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { launch, open, picture, sideways } from './open.js'

t.test('the API reference in a browser', { skip: missing('chromium') }, async (t) => {
  const browser = await launch(t)
  const posthorn = await startPosthorn(t)
  const document: Document & { webhooks: Document['paths'] } = (
    await posthorn.call('GET', '/v1/openapi.json')
  ).json
  // Of a webhook the page shows the event in the place of a path.
  const all = { ...document.paths, ...document.webhooks }
  const described = Object.entries(all).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )

  for (const [width, scheme] of [
    [1280, 'light'],
    [375, 'dark'],
  ] as const) {
    await t.test(`shows every endpoint at ${width} px, ${scheme}`, async (t) => {
      const { page, errors, asked } = await open(t, browser, width, scheme)
      await page.goto(posthorn.url)
      await page.getByRole('link', { name: 'API reference' }).first().click()
      await page.locator('.opblock').first().waitFor()
      const shown = await page.locator('.opblock-summary').evaluateAll((summaries) =>
        summaries.map((summary) => {
          const textOf = (name: string) => summary.querySelector(name)?.textContent?.trim()
          return `${textOf('.opblock-summary-method')} ${textOf('.opblock-summary-path')}`
        }),
      )
      t.same(shown.map((one) => one.replaceAll('\u200b', '')).sort(), described.sort())
      t.equal(await sideways(page), 0)
      await picture(page, `reference-${width}-${scheme}`)
      const ink = 'getComputedStyle(document.querySelector(".info p")).color'
      const brightness = Number(/\d+/.exec(await page.evaluate<string>(ink))?.[0])
      t.equal(brightness > 128, scheme === 'dark', 'the colours are those of the system')

      await page.getByText('/v1/emails/send').first().click()
      const bad = page.locator('.responses-table .response[data-code="400"]')
      await bad.waitFor()
      t.match(await bad.textContent(), /domain_not_verified/)
      t.match(await page.locator('.opblock-body').first().textContent(), /Idempotency-Key/)
      await page.getByRole('tab', { name: 'Schema' }).first().click()
      t.equal(await sideways(page), 0, 'nor with an endpoint opened')
      await picture(page, `reference-send-${width}-${scheme}`)

      t.same(errors, [], 'the browser has nothing to complain about')
      const paths = new Set(asked.filter((path) => !path.startsWith('/reference/')))
      t.same([...paths].sort(), ['/', '/reference', '/v1/openapi.json'])
    })
  }

  await t.test('sends a mail when tried out with a key', async (t) => {
    const { page, errors } = await open(t, browser, 1280)
    await page.goto(`${posthorn.url}/reference`)
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.locator('.auth-container input').fill(posthorn.apiKey)
    await page.locator('.auth-btn-wrapper').getByText('Authorize').click()
    await page.locator('.auth-btn-wrapper').getByText('Close').click()
    await page.getByText('/v1/emails/send').first().click()
    await page.getByRole('button', { name: 'Try it out' }).click()
    const body = page.locator('.body-param__text')
    await body.fill((await body.inputValue()).replace('orders@example.com', 'a@sender.test'))
    await page.getByRole('button', { name: 'Execute' }).click()
    const answer = page.locator('.live-responses-table')
    await answer.waitFor()
    t.match(await answer.textContent(), /Email queued/)
    t.same(errors, [])
  })

  await t.test('runs no script but ours, and is framed by nobody', async (t) => {
    const { headers, text } = await posthorn.call('GET', '/reference')
    const policy = headers.get('content-security-policy') ?? ''
    t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/)
    t.match(policy, /frame-ancestors 'none'/)
    t.notMatch(policy, /unsafe|\*|https?:/)
    t.notMatch(text, /https?:\/\//)
  })
})
