import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch } from './open.js'

const skip = missing('chromium')
const mail = (subject: string) => ({
  from: 'a@sender.test',
  to: 'ann@example.com',
  html: '<p>Hello</p>',
  subject,
})

t.test('pages show what happens without being loaded again', { skip }, async (t) => {
  buildScripts()
  const posthorn = await startPosthorn(t)
  const owner = await logIn(posthorn, posthorn.accountId, 'owner')
  const [name = '', value = ''] = owner.cookie.split('=', 2)
  const browser = await launch(t)
  const context = await browser.newContext()
  await context.addCookies([{ name, value, url: posthorn.url }])
  const streams: string[] = []
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/live') streams.push(request.url())
  })
  const account = `${posthorn.url}/a/${posthorn.accountId}`
  const open = async (path: string) => {
    const page = await context.newPage()
    await page.goto(account + path)
    // What was typed would be gone after a load.
    await page.evaluate('window.loadedOnce = true')
    return { page, isSame: async () => (await page.evaluate('window.loadedOnce')) === true }
  }
  const overview = await open('')
  const log = await open('/emails')
  await log.page.getByLabel('Search').fill('somebody')

  const later = { ...mail('For tomorrow'), scheduledAt: new Date(Date.now() + 9e6).toISOString() }
  const { id } = (await posthorn.send(later)).json
  await log.page.bringToFront()
  await log.page.getByRole('link', { name: 'For tomorrow' }).waitFor()
  t.equal(await log.page.getByLabel('Search').inputValue(), 'somebody')
  t.equal(await log.isSame(), true)

  const one = await open(`/emails/${id}`)
  await one.page.getByText('scheduled', { exact: true }).first().waitFor()
  await posthorn.call('DELETE', `/v1/emails/${id}/cancel`)
  await one.page.getByText('cancelled', { exact: true }).first().waitFor()
  t.equal(await one.isSame(), true)

  // Who has come to a button by keys reads what happens, and stays at it.
  await log.page.bringToFront()
  await log.page.evaluate(`{
    const button = document.createElement('button')
    button.textContent = 'Pause'
    document.querySelector('#mails').append(button)
    button.focus()
  }`)
  await posthorn.send({ ...later, subject: 'While a button has the focus' })
  await log.page.getByRole('link', { name: 'While a button has the focus' }).waitFor()
  const isIn = 'document.querySelector("#mails").contains(document.activeElement)'
  t.equal(await log.page.evaluate(isIn), true, 'what is gone has a place')
  const link = log.page.locator('#mails a').first()
  await link.focus()
  const leads = await link.getAttribute('href')
  await posthorn.send({ ...later, subject: 'While a link has it' })
  await log.page.getByRole('link', { name: 'While a link has it' }).waitFor()
  t.equal(await log.page.evaluate('document.activeElement.getAttribute("href")'), leads)

  await overview.page.bringToFront()
  const accepted = overview.page.locator('dl.figures b').first()
  t.equal(await accepted.textContent(), '3')
  await posthorn.send(mail('One more'))
  await accepted.getByText('4', { exact: true }).waitFor()
  t.equal(await overview.isSame(), true)
  t.equal(streams.length, 1, 'one stream for all tabs of a browser')
})

t.test('a tab that is left open does not keep its session alive', async (t) => {
  const posthorn = await startPosthorn(t)
  const owner = await logIn(posthorn, posthorn.accountId, 'owner', Date.now() - 600_000)
  const seen = async () =>
    (await posthorn.store.read.selectFrom('sessions').select('seen_at').execute()).map(
      (row) => row.seen_at,
    )
  const before = await seen()
  const path = `/a/${posthorn.accountId}/emails`
  t.equal((await owner.get(path, { 'posthorn-look': 'by-itself' })).status, 200)
  t.same(await seen(), before)
  t.equal((await owner.get(path)).status, 200)
  t.ok(((await seen())[0] ?? 0) > (before[0] ?? 0), 'who comes is seen')
})
