import { array, size, string, type } from 'superstruct'
import t from 'tap'
import { file, frame, page, redirect } from '../../../src/dashboard/shell/answer.js'
import { type Faults, noFaults } from '../../../src/dashboard/shell/faults.js'
import type { Visit } from '../../../src/dashboard/shell/visit.js'
import { ApiError } from '../../../src/errors/index.js'
import { startShell } from './start.js'

const Thing = type({ name: size(string(), 1, 20), events: array(string()) })

const start = (t: Parameters<typeof startShell>[0]) =>
  startShell(t, ({ account, operator }) => {
    const show = async (visit: Visit, faults: Faults = noFaults) =>
      page(
        '../../test/dashboard/shell/form',
        { action: `${visit.base}/keys`, name: 'first', faults },
        { title: 'A form' },
      )
    account.get('/keys', 'keys.read', (visit) => show(visit))
    account.post(
      '/keys',
      { action: 'keys.write', form: Thing, again: show },
      async ({ form, base }) => {
        if (form.name === 'taken') {
          throw new ApiError('conflict', 'There is one of that name', { fields: { field: 'name' } })
        }
        const audit = { action: 'key.create', target: form.name, detail: { events: form.events } }
        return redirect(`${base}/keys`, { flash: `Made <${form.name}>`, audit })
      },
    )
    account.post('/keys/roll', { action: 'keys.write', sudo: true }, async ({ base }) =>
      redirect(`${base}/keys`),
    )
    account.post('/large', { action: 'keys.write', form: Thing, maxBodyBytes: 8e6 }, async () =>
      redirect('/large'),
    )
    account.get('/frame', 'keys.read', async () => frame(lookedUp))
    account.get('/rows.csv', 'keys.read', async ({ request }) =>
      file(rowsUntil(request.signal), 'text/csv', { audit: { action: 'rows.export' } }),
    )
    account.post('/keys/preview', { action: 'keys.read', reads: true }, async (visit) =>
      show(visit),
    )
    operator.get('', 'operator.read', async () =>
      page(
        '../../test/dashboard/shell/form',
        { action: '', name: 'x', faults: noFaults },
        { title: 'Operator' },
      ),
    )
  })

t.test('who is not logged in is led to the log-in, and back afterwards', async (t) => {
  const { get, post } = await start(t)
  const { status, headers } = await get('/a/one/keys?page=2')
  t.equal(status, 303)
  t.equal(headers.get('location'), '/login?next=%2Fa%2Fone%2Fkeys%3Fpage%3D2')
  const posted = await post('/a/one/keys', 'name=x', { cookie: '' })
  t.match(posted.headers.get('location'), /^\/login/)
})

t.test('an account of others is not there, and what a role may not do is a 403', async (t) => {
  const { get, post, noted } = await start(t)
  const other = await get('/a/two/keys', 'owner')
  t.equal(other.status, 404)
  t.match(other.text, /<h1>Page not found/, 'in the look of the product')
  const refused = await post('/a/one/keys', 'name=x', { cookie: 'who=viewer' })
  t.equal(refused.status, 403)
  t.match(refused.text, 'Your role in this account is viewer')
  t.equal((await get('/operator', 'owner')).status, 404)
  t.equal((await get('/operator', 'operator')).status, 200)
  t.same(noted, [])
})

t.test('an operator who looks into an account leaves one row, and changes nothing', async (t) => {
  const { get, post, noted } = await start(t)
  t.match((await get('/a/one/keys', 'operator')).text, 'You look into <b>Account &lt;one&gt;</b>')
  await get('/a/one/keys', 'operator')
  t.match(noted, [{ action: 'account.view-as', accountId: 'one' }])
  t.equal(noted.length, 1)
  t.equal((await post('/a/one/keys', 'name=x', { cookie: 'who=operator' })).status, 403)
})

t.test('a page stands in the layout, with what was written escaped', async (t) => {
  const { get } = await start(t)
  const { status, text, headers } = await get('/a/one/keys', 'owner')
  t.equal(status, 200)
  t.match(text, '<title>A form · Account &lt;one&gt; · Posthorn</title>')
  t.match(text, '<a href="/a/one/keys" aria-current="page">API keys</a>')
  t.notMatch(text, 'Webhooks', 'a place without a page is not named')
  t.match(text, 'value="first"')
  t.match(text, /value="sent" checked/)
  t.match(headers.get('content-security-policy'), "default-src 'self'; base-uri 'none'")
  t.notMatch(headers.get('content-security-policy'), 'unsafe')
})

t.test('a form that does not fit comes back as 422 with what was typed', async (t) => {
  const { post, noted } = await start(t)
  const { status, text } = await post('/a/one/keys', 'name=&events=opened')
  t.equal(status, 422)
  t.match(text, 'role="alert" tabindex="-1" autofocus')
  t.match(text, 'href="#field-name"')
  t.match(text, /aria-describedby="field-name-hint field-name-fault" aria-invalid="true"/)
  t.match(text, /value="opened" checked/)
  t.notMatch(text, /value="sent" checked/)
  const taken = await post('/a/one/keys', 'name=taken')
  t.equal(taken.status, 422)
  t.match(taken.text, 'id="field-name-fault">There is one of that name')
  t.match(taken.text, 'value="taken"')
  t.same(noted, [], 'what was not done is not in the log')
})

t.test('what was done leads on, tells it once, and is in the log', async (t) => {
  const { get, post, noted } = await start(t)
  const done = await post('/a/one/keys', 'name=new&events=sent&events=opened')
  t.equal(done.status, 303)
  t.equal(done.headers.get('location'), '/a/one/keys')
  t.match(noted, [
    {
      action: 'key.create',
      target: 'new',
      accountId: 'one',
      detail: { events: ['sent', 'opened'] },
    },
  ])
  const [flash = ''] = done.cookie.split(';')
  const next = await get('/a/one/keys', '', { cookie: `who=owner; ${flash}` })
  t.match(next.text, 'role="status">Made &lt;new&gt;')
  t.match(next.cookie, 'Max-Age=0', 'and is forgotten')
  const forged = await get('/a/one/keys', '', { cookie: `who=owner; ${flash}x` })
  t.notMatch(forged.text, 'Made')
})

t.test('a path without a page keeps what is around the pages', async (t) => {
  const { get, post } = await start(t)
  for (const path of ['/a/one/nothing', '/a/one/keys/a/b/c', '/a/one/keys/roll/x']) {
    const { status, text } = await get(path, 'owner')
    t.equal(status, 404, path)
    t.match(text, /There is no page here/, path)
    t.match(text, /<nav class="rail"[\s\S]*\/a\/one\/keys/, path)
  }
  t.equal((await get('/a/other/nothing', 'owner')).status, 404)
  t.notMatch(
    (await get('/a/other/nothing', 'owner')).text,
    /class="rail"/,
    'nobody else sees what is there',
  )
  t.equal((await post('/a/one/nothing', '')).status, 405)
})

t.test('what is sensitive asks for a factor again; a preview leaves no row', async (t) => {
  const { post, noted, url } = await start(t)
  const roll = await post('/a/one/keys/roll', '', { referer: `${url}/a/one/keys` })
  t.equal(roll.status, 307)
  t.equal(
    roll.headers.get('location'),
    '/sudo/ask?next=%2Fa%2Fone%2Fkeys&to=%2Fa%2Fone%2Fkeys%2Froll',
  )
  t.equal((await post('/a/one/keys/preview', '')).status, 200)
  t.same(noted, [])
})

t.test('a post that does not come from a page of ours is refused', async (t) => {
  const { post, noted, url } = await start(t)
  const none = { 'sec-fetch-site': '' }
  for (const [name, headers] of Object.entries({
    'from another site': { 'sec-fetch-site': 'cross-site' },
    'from a host beside this one': { 'sec-fetch-site': 'same-site' },
    'by hand': { 'sec-fetch-site': 'none' },
    'with the origin of another': { ...none, origin: 'https://evil.example' },
    'with no origin that can be told': { ...none, origin: 'null' },
  })) {
    t.equal((await post('/a/one/keys', 'name=x', headers)).status, 403, name)
  }
  const bare = await fetch(`${url}/a/one/keys`, {
    method: 'POST',
    body: 'name=x',
    redirect: 'manual',
    headers: { cookie: 'who=owner', 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(bare.status, 403, 'with neither header')
  t.same(noted, [])
})

t.test('the form of who is not let in is not looked at', async (t) => {
  const { post } = await start(t)
  // One that nobody could take apart: it would be refused for that.
  const many = 'a&'.repeat(2_000_000)
  const stranger = await post('/a/one/large', many, { cookie: '' })
  t.match(stranger.headers.get('location'), /^\/login/)
  t.equal((await post('/a/one/large', many, { cookie: 'who=viewer' })).status, 403)
  t.equal((await post('/a/two/large', many)).status, 404)
  const elsewhere = await post('/a/one/large', many, { 'sec-fetch-site': 'none' })
  t.equal(elsewhere.status, 403)
  t.match(elsewhere.text, 'can only be sent from the page it is on')
  const roll = await post('/a/one/keys/roll', 'a&'.repeat(2_000))
  t.match(roll.headers.get('location'), /^\/sudo/)
  t.equal((await post('/a/one/large', many)).status, 400, 'the own one is')
})

const lookedUp =
  '<LINK\nrel=preconnect href=//a.test><link/rel=dns-prefetch href=//b.test><linked><iframe srcdoc="&lt;link rel=preconnect href=//c.test&gt;"></iframe>'

t.test('what others wrote connects to nobody, and no name of theirs is looked up', async (t) => {
  const { get } = await start(t)
  const { text, headers } = await get('/a/one/frame', 'owner')
  t.match(text, '<x-LINK\nrel=preconnect href=//a.test><x-link/rel=dns-prefetch')
  t.match(text, '<x-iframe srcdoc', 'a frame within could have one')
  t.match(text, '<linked>')
  t.notMatch(text, /<link[\s/>]/i)
  t.equal(headers.get('x-dns-prefetch-control'), 'off')
  const page = await get('/a/one/keys', 'owner')
  t.equal(page.headers.get('x-dns-prefetch-control'), 'off')
})

async function* rowsUntil(signal: AbortSignal) {
  yield 'row'
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

t.test('a list that is taken away is in the log, and few are at once', async (t) => {
  const { url, noted } = await start(t)
  const begun = async (who: string) => {
    const gone = new AbortController()
    const headers = { cookie: `who=${who}` }
    const response = await fetch(`${url}/a/one/rows.csv`, { headers, signal: gone.signal })
    return { status: response.status, gone: () => gone.abort() }
  }
  const [one] = [await begun('owner'), await begun('owner')]
  t.equal((await begun('owner')).status, 503, 'a person has two')
  t.same([(await begun('viewer')).status, (await begun('viewer')).status], [200, 200])
  t.equal((await begun('operator')).status, 503, 'all have four')
  const exports = noted.filter(({ action }) => action === 'rows.export')
  t.match(exports[0], { accountId: 'one', target: '/a/one/rows.csv', actor: { userId: 'owner' } })
  t.equal(exports.length, 4)
  one?.gone()
  let { status } = await begun('operator')
  // The server hears of it a moment later.
  for (let tries = 0; status !== 200 && tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    status = (await begun('operator')).status
  }
  t.equal(status, 200, 'whose client has gone has made room')
})
