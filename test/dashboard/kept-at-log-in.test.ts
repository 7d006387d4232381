// Issue 47: without script, what is sent after the log-in has ended is offered again after the next one, and to nobody else.
import { request } from 'node:http'
import t from 'tap'
import { makeKeptForms } from '../../src/dashboard/entry/kept-forms.js'
import { ownMemory } from '../../src/dashboard/shell/node-memory.js'
import { openAutomationPages } from '../support/automation-pages.js'
import { FakeClock } from '../support/clock.js'
import { fieldsOf } from '../support/editor-fields.js'

const pages = await openAutomationPages(t)
const { posthorn, store, owner } = pages

/** As a browser without script sends a form of one of our pages. */
function navigate(
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; to: string; cookie: string }> {
  const ofBrowser = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'navigate',
    referer: `${posthorn.url}${path}`,
  }
  return new Promise((done, failed) => {
    const asked = request(
      posthorn.url + path,
      { method: 'POST', headers: { ...ofBrowser, ...headers } },
      (answer) => {
        answer.resume()
        const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? []
        const { statusCode: status = 0, headers } = answer
        answer.on('end', () => done({ status, to: headers.location ?? '', cookie }))
      },
    )
    asked.on('error', failed)
    asked.end(body)
  })
}

t.test('the editor of an automation: nothing is lost, and nothing is done by itself', async (t) => {
  const { id, edit, page } = await pages.made({ recipe: 'review', name: 'Kept' })
  const html = (await owner.get(edit)).text
  const typed = String(
    new URLSearchParams({ ...fieldsOf(html), name: 'Typed “at” last <b>', 'posthorn-once': 'x' }),
  )
  await store.write((tx) => tx.deleteFrom('sessions').execute())
  const { cookie } = owner
  const away = await navigate(edit, typed, { cookie })
  t.equal(away.status, 307, 'the browser sends the same once more')
  t.match(away.to, /^\/login\/kept\?/)
  const kept = await navigate(away.to, typed, { cookie })
  t.match(kept, { status: 303, to: '/login?next=%2Fme%2Fkept' })
  t.match((await owner.get(kept.to)).text, /Your log-in has ended\. What you sent is kept/)
  const again = await pages.as('owner')
  const both = { cookie: `${again.cookie}; ${kept.cookie}` }
  const offered = (await again.get('/me/kept', both)).text
  t.match(offered, new RegExp(`<form method="post" action="${edit}"`))
  t.match(offered, new RegExp(`<a href="${edit}">this page</a>`))
  t.match(offered, /name="name" value="Typed “at” last &lt;b&gt;"/)
  t.notMatch(offered, /value="x"/, 'what is good once is another value')
  t.equal((await pages.call('GET', `/v1/automations/${id}`)).name, 'Kept')
  const fields = Object.fromEntries(new URLSearchParams(typed))
  t.equal((await again.post(edit, fields)).status, 303)
  t.equal((await pages.call('GET', `/v1/automations/${id}`)).name, 'Typed “at” last <b>')
  const none = await again.get('/me/kept')
  t.equal(none.status, 303, 'another browser is offered nothing')
  await store.write((tx) => tx.deleteFrom('sessions').execute())
  const others: Record<string, Record<string, string>> = {
    'of a script': { 'sec-fetch-mode': 'cors' },
    'with files': { 'content-type': 'multipart/form-data; boundary=x' },
  }
  for (const [why, headers] of Object.entries(others)) {
    t.match((await navigate(`${page}/pause`, 'a=b', { ...headers })).to, /^\/login\?next=/, why)
  }
  const elsewhere = { 'sec-fetch-site': 'cross-site' }
  t.match(await navigate(`${page}/pause`, 'a=b', elsewhere), { status: 403, to: '' })
  const planted = await navigate('/login/kept?to=%2Fa%2Fx', 'a=b', elsewhere)
  t.match(planted, { status: 403, cookie: '' })
  const evil = await navigate('/login/kept?to=%2F%2Fevil.test', 'a=b')
  t.match(evil, { to: '/login', cookie: '' })
})

t.test('a form is kept for half an hour, and many of them take no more memory', async (t) => {
  const clock = new FakeClock()
  const forms = makeKeptForms(clock, ownMemory())
  const of = (value: string) => ({ to: '/a', page: '/b', fields: [['name', value]] as const })
  const first = forms.keep(undefined, of('one'))
  t.equal(forms.keep(first, of('two')), first, 'the latest of a browser')
  t.match((await forms.find(first))?.fields, [['name', 'two']])
  t.not(forms.keep('made-up', of('x')), 'made-up')
  const large = forms.keep(undefined, of('x'.repeat(15 * 1024 * 1024)))
  t.ok(await forms.find(first))
  const next = forms.keep(undefined, of('x'.repeat(2 * 1024 * 1024)))
  t.equal((await forms.find(first)) ?? (await forms.find(large)), undefined, 'those of before go')
  await clock.advance(31 * 60_000)
  t.equal(await forms.find(next), undefined)
})
