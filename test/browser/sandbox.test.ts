// Thorough: a browser at every width, in both schemes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Verdicts } from '../../src/reports/index.js'
import { mail, type StartedDashboard, startDashboard } from '../dashboard/start.js'
import { missing } from '../support/tools.js'
import { launch, open, picture, pictures, sideways } from './open.js'

const widths = [1280, 375]
const newsletter = mail({
  subject: 'Your order 4711 has left our house',
  from: '"The Shop" <orders@shop.example>',
  text: 'Dear Ada,\r\n\r\nyour order has left our house.\r\n\r\nThe Shop',
  html: '<div style="font-family:sans-serif;max-width:560px;margin:auto;padding:24px"><h1 style="color:#274">On its way</h1><p>Dear Ada, your order has left our house.</p><a href="https://shop.example/track" style="background:#274;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">Track it</a></div>',
})
const views = ['text', 'headers', 'source', 'attachments', 'checks', 'clients', 'links']
// Every way to run a script or to leave the frame that a mail's HTML could try.
const hostile = mail({
  subject: `<script>hit('subject')</script>${'Wide'.repeat(60)}`,
  from: `"<img src=x onerror=parent.hit('from')>" <${'x'.repeat(60)}@${'y'.repeat(60)}.example>`,
  text: `<script>hit('text')</script> ${'w'.repeat(2_000)}`,
  html: `<script>document.title='hit'; top.document.title='hit'; fetch('/hit')</script>
    <img src=x onerror="top.document.title='hit'"><svg onload="location='/hit'"></svg>
    <img src="http://127.0.0.1:9/pixel"><link rel=stylesheet href="/hit"><style>@import '/hit';</style>
    <iframe srcdoc="<script>top.document.title='hit'</script>"></iframe><object data="/hit"></object>
    <meta http-equiv="refresh" content="0;url=/hit"><base href="https://evil.example/">
    <form action="/sandbox/clear" method="post"><button autofocus>Win</button></form>
    <a id="link" href="javascript:top.document.title='hit'">Click</a>
    <p style="width:5000px;position:fixed;inset:0">${'long'.repeat(500)}</p>`,
  more: `X-Wide: ${'z'.repeat(900)}`,
})

t.test('the pages in a browser', { skip: missing('chromium') }, async (t) => {
  const browser = await launch(t)

  for (const width of widths) {
    for (const scheme of ['light', 'dark'] as const) {
      await t.test(`fit and work at ${width} px, ${scheme}`, async (t) => {
        const dashboard = await startDashboard(t)
        const { page, errors } = await open(t, browser, width, scheme)
        const look = async (path: string, name: string) => {
          await page.goto(dashboard.url + path)
          t.equal(await sideways(page), 0, `${path} does not scroll sideways`)
          await picture(page, `${name}-${width}-${scheme}`)
        }
        await look('/', 'home')
        await look('/sandbox', 'empty')
        const id = await dashboard.receive(newsletter)
        await judge(dashboard, id)
        await fill(dashboard)
        await look('/sandbox', 'inbox')
        t.equal(await page.locator('.mails li').count(), 4)
        await page.locator('.mails a').last().click()
        t.equal(new URL(page.url()).pathname, `/sandbox/${id}`)
        await look(`/sandbox/${id}`, 'message')
        const frame = page.frameLocator('iframe')
        t.equal(await frame.locator('h1').textContent(), 'On its way')
        for (const view of views) await look(`/sandbox/${id}?view=${view}`, `message-${view}`)
        await page.goto(`${dashboard.url}/sandbox/${id}`)
        if (pictures)
          await page
            .locator('iframe')
            .screenshot({ path: `${pictures}/frame-${width}-${scheme}.png` })
        await look('/sandbox?q=nothing', 'nothing-found')
        t.same(errors, [])
      })
    }
  }

  await t.test('width and colours of the frame change without any script', async (t) => {
    const dashboard = await startDashboard(t)
    const html = `<style>@media (prefers-color-scheme: dark) { p { color: rgb(1, 2, 3) } }</style><p>Hi</p>`
    const id = await dashboard.receive(mail({ html }))
    const context = await browser.newContext({ javaScriptEnabled: false })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${dashboard.url}/sandbox/${id}`)
    const width = async () => Math.round((await page.locator('iframe').boundingBox())?.width ?? 0)
    t.ok((await width()) > 800)
    await page.getByLabel('Phone').check()
    t.equal(await width(), 375)
    await page.getByLabel('Phone').press('ArrowRight')
    t.equal(await width(), 768, 'by the keyboard too')
    await page.getByLabel('Dark').check()
    const scheme = "getComputedStyle(document.querySelector('iframe')).colorScheme"
    t.equal(await page.evaluate(scheme), 'dark')
  })

  await t.test('a picture from elsewhere is fetched when somebody asks for it', async (t) => {
    const asked: (string | undefined)[] = []
    const elsewhere = createServer((request, response) => {
      asked.push(request.headers.referer)
      response.writeHead(200, { 'content-type': 'image/gif' })
      response.end(
        Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
      )
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    t.teardown(() => elsewhere.close())
    const { port } = elsewhere.address() as AddressInfo
    const dashboard = await startDashboard(t)
    const id = await dashboard.receive(mail({ html: `<img src="http://127.0.0.1:${port}/a.gif">` }))
    const { page } = await open(t, browser, 1280)
    await page.goto(`${dashboard.url}/sandbox/${id}`, { waitUntil: 'networkidle' })
    t.same(asked, [])
    await page.getByRole('link', { name: 'Show them' }).click()
    await page.getByRole('link', { name: 'Hide them' }).waitFor()
    await page.waitForLoadState('networkidle')
    t.same(asked, [undefined], 'once, and without saying from where')
  })

  await t.test('no script of a mail runs, and nothing of it leaves its frame', async (t) => {
    const dashboard = await startDashboard(t)
    const id = await dashboard.receive(hostile)
    for (const width of widths) {
      const { page, errors, asked } = await open(t, browser, width)
      const hits: string[] = []
      await page.exposeFunction('hit', (where: string) => hits.push(where))
      await page.goto(`${dashboard.url}/sandbox`)
      t.equal(await sideways(page), 0)
      t.same(errors, [], 'the list has nothing to complain about')
      await page.goto(`${dashboard.url}/sandbox/${id}`, { waitUntil: 'networkidle' })
      await picture(page, `hostile-${width}`)
      t.equal(await sideways(page), 0)
      t.match(await page.title(), /^<script>/)
      await page.frameLocator('iframe').locator('#link').click({ force: true })
      // Opened by itself it is no more than in the frame.
      await page.goto(`${dashboard.url}/sandbox/${id}/html`, { waitUntil: 'networkidle' })
      t.not(await page.title(), 'hit')
      t.same(hits, [])
      t.same([...new Set(asked)].sort(), ['/sandbox', `/sandbox/${id}`, `/sandbox/${id}/html`])
      t.equal((await dashboard.sandbox.checked(1)).length, 1)
    }
  })

  await t.test('new mail appears by itself, and clearing asks first', async (t) => {
    const dashboard = await startDashboard(t)
    const { page, errors } = await open(t, browser, 1280)
    await page.goto(`${dashboard.url}/sandbox`)
    t.match(await page.textContent('#list'), /No mail yet/)
    await dashboard.receive(newsletter)
    await page.locator('.mails a').waitFor()
    t.match(await page.textContent('#count'), '1 message')

    t.notOk(await page.getByRole('button', { name: 'Delete all' }).isVisible())
    await page.getByText('Clear all…').click()
    await picture(page, 'clear')
    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByText('No mail yet').waitFor()
    t.same(await dashboard.sandbox.checked(0), [])
    t.same(errors, [])
  })

  await t.test('the list can be used with the keyboard alone', async (t) => {
    const dashboard = await startDashboard(t)
    const id = await dashboard.receive(newsletter)
    const { page } = await open(t, browser, 1280)
    await page.goto(`${dashboard.url}/sandbox`)
    await page.keyboard.press('Tab')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content')
    await page.locator('#q').press('Tab')
    for (const name of ['Search', 'Clear all…']) {
      t.match(await page.evaluate('document.activeElement.textContent'), name)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/sandbox/${id}`)
    t.equal(await page.locator('h1').textContent(), 'Your order 4711 has left our house')
  })
})

/** A few more mails, so that the list looks like one. */
async function fill(dashboard: StartedDashboard): Promise<void> {
  await dashboard.receive(
    mail({ subject: 'Grüße aus Köln', from: 'Jürgen <j@köln.example>', to: 'a@b.example' }),
    ['ada@example.com', 'bob@example.com', 'carol@example.com', 'dave@example.com'],
  )
  await dashboard.receive(mail({ subject: '', from: '', text: 'No subject, no sender' }))
  await dashboard.receive(mail({ subject: 'A very long subject that goes on '.repeat(8) }))
}

/** Gives a mail one verdict of each kind, with the long names that real ones have. */
async function judge({ store }: StartedDashboard, id: number): Promise<void> {
  const domain = 'bounce.mail.the-shop-around-the-corner.example'
  const signature = { domain, selector: 'posthorn-2026-11', algorithm: 'rsa-sha256' }
  const verdicts: Verdicts = {
    dkim: [
      { ...signature, result: 'pass', info: `dkim=pass header.i=@${domain} header.b="aUx2k"` },
      { ...signature, result: 'fail', info: 'dkim=fail (bad signature)' },
    ],
    spf: { result: 'softfail', domain, info: `spf=softfail smtp.mailfrom=4711@${domain}` },
    dmarc: { result: 'pass', domain, policy: 'reject', info: `dmarc=pass header.from=${domain}` },
  }
  await store.write((tx) =>
    tx
      .updateTable('sandbox_messages')
      .set({ verdicts: JSON.stringify(verdicts) })
      .where('id', '=', id)
      .execute(),
  )
}
