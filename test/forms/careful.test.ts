// A form whose confirmations came back: proof of work where there is script, a slower way without.
import t from 'tap'
import { formLimits } from '../../src/forms/index.js'
import { workBits } from '../../src/forms/work.js'
import { launch } from '../browser/open.js'
import {
  fillIn,
  linkTo,
  makeForm,
  stampOf,
  startWithForms,
  workFor,
} from '../support/signup-forms.js'
import { missing } from '../support/tools.js'

const posthorn = await startWithForms(t)
const { store } = posthorn
const form = await makeForm(posthorn)
const makeCareful = (id: string) =>
  store.write((tx) =>
    tx.updateTable('forms').set({ careful_at: Date.now() }).where('id', '=', id).execute(),
  )
await makeCareful(form.id)
const mails = async () => (await store.read.selectFrom('emails').select('id').execute()).length
let network = 0
const send = (email: string, fields: Record<string, string> = {}, stamp?: string) =>
  fillIn(posthorn, form.page, email, {
    from: `192.0.${++network}.1`,
    fields,
    ...(stamp !== undefined && { stamp }),
  })

t.test('without script it sends twenty an hour, and goes on for who has worked', async (t) => {
  const shown = await (await fetch(form.page)).text()
  t.match(shown, `data-work="${workBits}"`)
  t.match(shown, '<noscript><p class="about">Without JavaScript this form can take few people')
  const before = await mails()
  for (let n = 0; n < formLimits.carefulAnHour + 3; n++) await send(`slow${n}@reader.test`)
  t.equal((await mails()) - before, formLimits.carefulAnHour)
  const stamp = stampOf(posthorn, form.page)
  const work = workFor(stamp, 'ada@reader.test')
  await send('bob@reader.test', { work }, stamp)
  await send('ada@reader.test', { work: 'x' }, stamp)
  t.equal((await mails()) - before, formLimits.carefulAnHour, 'work for another address is none')
  await send('Ada@reader.test', { work }, stamp)
  t.match(await linkTo(posthorn, 'Ada@reader.test'), '/confirm/')
})

t.test('no network takes what others may have, without script', async (t) => {
  const fair = await makeForm(posthorn)
  await makeCareful(fair.id)
  const before = await mails()
  for (let n = 0; n < 5; n++)
    await fillIn(posthorn, fair.page, `grab${n}@reader.test`, { from: '203.0.113.1' })
  for (const n of [2, 3, 4])
    await fillIn(posthorn, fair.page, `next${n}@reader.test`, { from: `203.0.113.${n}` })
  t.equal((await mails()) - before, formLimits.carefulNeighboursAnHour)
  await fillIn(posthorn, fair.page, 'other@reader.test', { from: '198.51.100.1' })
  t.match(await linkTo(posthorn, 'other@reader.test'), '/confirm/')
})

t.test('a front end asks for the work, and hands it in', async (t) => {
  const open = await makeForm(posthorn, { api: 'open' })
  const at = `${posthorn.publicUrl}/v1/forms/${open.id}`
  const ask = async () => JSON.parse(await (await fetch(`${at}/work`)).text())
  t.match(await ask(), { bits: 0 })
  await makeCareful(open.id)
  const { stamp, bits } = await ask()
  t.equal(bits, workBits)
  const submit = (email: string, work?: object) =>
    fetch(`${at}/submissions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
      body: JSON.stringify({ email, agreed: true, work }),
    })
  const before = await mails()
  await submit('first@reader.test')
  await submit('second@reader.test')
  await submit('third@reader.test', { stamp, number: '1' })
  t.equal((await mails()) - before, 1, 'without work the network has had its one')
  const number = workFor(stamp, 'fourth@reader.test')
  t.equal((await submit('Fourth@reader.test', { stamp, number })).status, 202)
  t.match(await linkTo(posthorn, 'Fourth@reader.test'), '/confirm/')
  const byKey = await posthorn.call('GET', `/v1/forms/${open.id}/work`)
  t.match([byKey.status, byKey.json.bits], [200, workBits])
})

t.test('a form elsewhere is asked for it on the page of one button', async (t) => {
  const bare = await send('cid@reader.test', {}, '')
  t.match(bare.html, 'Please press the button')
  t.match(bare.html, `data-work="${workBits}"`)
})

t.test('a browser works and sends', { skip: missing('chromium') }, async (t) => {
  const browser = await launch(t)
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (said) => {
    // Browsers ask for an icon by themselves.
    const isOurs = !said.location().url.endsWith('/favicon.ico')
    if (said.type() === 'error' && isOurs) errors.push(said.text())
  })
  await page.goto(form.page)
  await page.fill('[name=email]', ' Eve@reader.test')
  await page.check('[name=agreed]')
  // What the page says while it works, which is gone with it.
  await page.evaluate(`
    new MutationObserver(([{ target }]) => sessionStorage.setItem('said', target.textContent))
      .observe(document.querySelector('[role=status]'), { childList: true })`)
  // Nobody fills it in in less.
  await page.waitForTimeout(1_600)
  await page.click('button')
  await page.waitForURL(/\/f\//)
  await page.getByText('One more click').waitFor()
  t.match(await linkTo(posthorn, 'Eve@reader.test'), '/confirm/')
  t.match(await page.evaluate(`sessionStorage.getItem('said')`), /^One moment/)
  t.same(errors, [])
})

t.test('a form that is not careful asks for nothing', async (t) => {
  const other = await makeForm(posthorn)
  t.notMatch(await (await fetch(other.page)).text(), /data-work|<script/)
})
