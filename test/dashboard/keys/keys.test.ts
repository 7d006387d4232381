import t, { type Test } from 'tap'
import { createKey, findKey, listKeys } from '../../../src/accounts/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { keyPages } from '../../../src/dashboard/keys/routes.js'
import { addDomain } from '../../../src/domains/index.js'
import { key, plans } from '../../support/webhooks.js'
import { hidden, hostile, isTame, startAccountPages, type Who } from '../account-pages.js'

const usual = { name: 'Web shop', scope: 'sending', networks: '', expiresAt: '' }

async function open(t: Test) {
  const rig = await startAccountPages(t, ({ account }, { store }) =>
    keyPages(account, { store, clock, plans }),
  )
  const { store, accountId } = rig
  return {
    ...rig,
    add: (name: string) => createKey({ store, clock }, accountId, name),
    keys: () => listKeys(store.read, accountId),
    /** The form with its own token. */
    async create(form: Record<string, string | string[]>) {
      const once = hidden(await rig.get('/keys/new'), 'once')
      return { once, got: await rig.post('/keys/new', { ...form, once }) }
    },
  }
}

t.test('a key is made with its limits, shown once, and in no page afterwards', async (t) => {
  const { create, keys, get, post, noted, store, accountId } = await open(t)
  await addDomain({ store, clock, key }, accountId, 'shop.test', { trust: true })
  const expiresAt = '2099-01-31'
  const networks = '10.0.0.0/24\n192.0.2.7'
  const form = { ...usual, networks, expiresAt, domains: ['shop.test'] }
  const { once, got } = await create(form)
  t.equal(got.status, 200)
  t.equal(got.headers.get('cache-control'), 'no-store')
  const [secret = ''] = /ph_[A-Za-z0-9_-]{43}/.exec(got.text) ?? []
  const [made] = await keys()
  t.equal(made?.last4, secret.slice(-4))
  t.match(got.text, '/v1/emails/send', 'what a sending key may do is shown to be tried')
  t.match(made, { name: 'Web shop', scope: 'sending', domains: ['shop.test'] })
  t.strictSame(made?.networks, ['10.0.0.0/24', '192.0.2.7'])
  t.equal(made?.expiresAt, Date.parse(expiresAt))
  t.match(noted, [{ action: 'key.create', target: made?.id, accountId }])
  t.notMatch(JSON.stringify(noted), secret, 'and not in the audit log')

  const again = await post('/keys/new', { ...form, once })
  t.equal(again.status, 422, 'a reload of the answer makes no second one')
  t.match(again.text, /made already and shown once/)
  t.equal(noted.length, 1)
  t.equal((await keys()).length, 1)
  for (const path of ['/keys', `/keys/${made?.id}`, '/keys/new']) {
    const { text, status } = await get(path)
    t.equal(status, 200)
    t.notMatch(text, secret.slice(0, 40), path)
  }
})

t.test('the command that tries a key does not send it in the clear', async (t) => {
  const { get, post } = await open(t)
  const form = async () => ({ ...usual, once: hidden(await get('/keys/new'), 'once') })
  const https = { 'x-forwarded-proto': 'https' }
  const { text } = await post('/keys/new', await form(), 'owner', https)
  t.match(text, /curl https:\/\/127\.0\.0\.1:\d+\/v1/, 'the page came by TLS')
  t.match((await post('/keys/new', await form())).text, /curl http:\/\/127/)
})

t.test('what stands in the place of a form’s token must be one', async (t) => {
  const { post, keys } = await open(t)
  const { status, text } = await post('/keys/new', { ...usual, once: 'x'.repeat(50_000) })
  t.equal(status, 422)
  t.match(text, /This form is not one that this page has made/)
  t.equal((await keys()).length, 0)
})

t.test('two clicks at once make one key', async (t) => {
  const { get, post, keys } = await open(t)
  const form = { ...usual, once: hidden(await get('/keys/new'), 'once') }
  const answers = await Promise.all([post('/keys/new', form), post('/keys/new', form)])
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 422])
  t.equal((await keys()).length, 1)
})

t.test(
  'a form that does not fit comes again with what was typed, and no key is made',
  async (t) => {
    const { create, keys, noted } = await open(t)
    const faulty: [Record<string, string | string[]>, RegExp][] = [
      [{ name: ' ' }, /1 to 100 characters/],
      [{ networks: '10.0.0.0/99' }, /is not a network/],
      [{ expiresAt: '2001-01-01' }, /is in the past/],
      [{ expiresAt: 'soon' }, /written as 2027-01-31/],
      [{ expiresAt: '2099-02-30' }, /written as 2027-01-31/],
      [{ domains: ['not-ours.test'] }, /has no domain/],
      [{ scope: 'all' }, /scope/],
    ]
    for (const [fault, words] of faulty) {
      const { got } = await create({ ...usual, name: 'Kept name', ...fault })
      t.equal(got.status, 422, JSON.stringify(fault))
      t.match(got.text, words)
      if (fault.name === undefined) t.match(got.text, /value="Kept name"/)
    }
    t.strictSame(await keys(), [])
    t.strictSame(noted, [])
  },
)

t.test('a key is changed and keeps what the form does not say', async (t) => {
  const { store, accountId, add, get, post, follow } = await open(t)
  await add('Full')
  const expiresAt = Date.parse('2099-01-31T12:00:00Z')
  const limits = { scope: 'sending', expiresAt } as const
  const { id } = await createKey({ store, clock }, accountId, 'Old', { limits })
  t.match((await get(`/keys/${id}`)).text, /value="2099-01-31"/)
  const changed = await post(`/keys/${id}`, {
    name: 'New',
    scope: 'read',
    networks: '10.0.0.0/8',
    expiresAt: '2099-01-31',
  })
  t.match((await follow(changed)).text, /New is changed/)
  t.match(await findKey(store.read, accountId, id), {
    name: 'New',
    scope: 'read',
    networks: ['10.0.0.0/8'],
    domains: null,
    expiresAt,
  })
  const wrong = await post(`/keys/${id}`, { ...usual, name: 'Newer', networks: 'here' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /value="Newer"/)
})

t.test('a key is deleted, after its page has told when it was used', async (t) => {
  const { store, add, get, post, follow, keys, noted } = await open(t)
  const { id, last4 } = await add('Printer')
  const used = clock.now() - 130_000
  await store.write((tx) =>
    tx.updateTable('api_keys').set({ last_used_at: used }).where('id', '=', id).execute(),
  )
  const { text } = await get(`/keys/${id}`)
  t.match(text, `Delete Printer (…${last4}), last used 2 min ago?`)
  t.match(text, /This is your last full key/)
  t.match((await follow(await post(`/keys/${id}/delete`))).text, /Printer is deleted/)
  t.strictSame(await keys(), [])
  t.match(noted, [{ action: 'key.delete', target: id }])
  t.equal((await post(`/keys/${id}/delete`)).status, 404)
})

t.test(
  'owners alone change keys, after their factor; viewers and strangers see none',
  async (t) => {
    const { add, get, post, endSudo, keys, accountId, otherId } = await open(t)
    const { id, name } = await add('Secret name')
    const statuses = async (path: string) => {
      const all: Record<string, number> = {}
      for (const who of ['owner', 'member', 'operator', 'viewer', 'stranger', 'nobody'] as Who[]) {
        all[who] = (await get(path, who)).status
      }
      return all
    }
    const outside = { viewer: 403, stranger: 404, nobody: 303 }
    t.strictSame(await statuses('/keys'), { owner: 200, member: 200, operator: 200, ...outside })
    const writing = { owner: 200, member: 403, operator: 403, ...outside }
    t.strictSame(await statuses('/keys/new'), writing)
    t.strictSame(await statuses(`/keys/${id}`), writing)
    t.notMatch((await get('/keys', 'member')).text, /Create a key/)
    t.equal((await get(`/a/${otherId}/keys/${id}`, 'stranger')).status, 404)
    t.notMatch((await get(`/a/${otherId}/keys`, 'stranger')).text, name)
    for (const path of ['/keys/new', `/keys/${id}`, `/keys/${id}/delete`]) {
      for (const who of ['member', 'operator', 'viewer'] as Who[]) {
        t.equal((await post(path, usual, who)).status, 403, `${who} ${path}`)
      }
      t.equal((await post(path, usual, 'stranger')).status, 404)
      t.equal((await post(`/a/${otherId}${path}`, usual)).status, 404)
    }
    endSudo()
    for (const path of ['/keys/new', `/keys/${id}`, `/keys/${id}/delete`]) {
      t.match((await post(path, { ...usual, once: 'x' })).location, /^\/sudo\/ask\?/)
    }
    t.strictSame(
      (await keys()).map((one) => one.name),
      [name],
    )
    t.ok(accountId)
  },
)

t.test('names are text on every page, and many keys are pages', async (t) => {
  const { add, get, create } = await open(t)
  const { id } = await add(hostile)
  for (let made = 0; made < 55; made++) await add(`Key ${made}`)
  const first = await get('/keys')
  t.match(first.text, /Key 54<.*Key 5</s)
  t.notMatch(first.text, /Key 4</)
  const [, older = ''] = /href="([^"]*after=[^"]*)"/.exec(first.text) ?? []
  const second = await get(older)
  t.match(second.text, /Key 4<.*Key 0</s)
  t.match(second.text, /&lt;img src=x/)
  isTame(t, second, 'the list')
  isTame(t, await get(`/keys/${id}`), 'its page')
  isTame(t, (await create({ ...usual, name: hostile })).got, 'the page that shows it')
  isTame(t, (await create({ ...usual, networks: hostile })).got, 'the form again')
  t.equal((await get('/keys?after=x')).status, 400)
  t.ok(first.text.length < 60_000, `${first.text.length} bytes`)
})
