// Issue 'For developers' 2: all recipients of a campaign by the API.
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { pageOfRecipients } from '../../src/broadcasts/recipients.js'
import { copiedMail } from '../support/copied-mail.js'
import { startPosthorn } from '../support/posthorn.js'
import { turnsDuring } from '../support/turns.js'

t.test('recipients come in pages, of all statuses or of one', async (t) => {
  const { call, store, accountId, addAccount } = await startPosthorn(t)
  const plan = loadPlans('config/plans.toml').marketing.at(-1) ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const list = (await call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })).json.id
  for (let n = 0; n < 5; n++) {
    await call('POST', `/v1/contacts/${list}`, { body: { email: `r${n}@x.test` } })
  }
  const campaign = { listId: list, from: 'a@sender.test', subject: 'News', html: '<p>x</p>' }
  const { id } = (await call('POST', '/v1/broadcasts', { body: campaign })).json
  const at = `/v1/broadcasts/${id}/recipients`
  const all = async (query: string) => {
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = (await call('GET', `${at}?${query}${cursor}`)).json
      seen.push(...page.recipients.map(({ email }: { email: string }) => email))
      if (!page.hasMore) return seen
      cursor = `&cursor=${page.nextCursor}`
    }
  }
  while ((await all('status=delivered')).length < 5) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const every = await all('limit=100')
  t.equal(new Set(every).size, 5)
  t.same(await all('limit=2'), every)
  t.same(await all('limit=1&status=delivered'), every)
  t.same(await all('limit=5'), every)
  t.same(await all('status=bounced'), [])
  const [first] = (await call('GET', at)).json.recipients
  await store.write((tx) =>
    tx.updateTable('emails').set({ status: 'bounced' }).where('id', '=', first.emailId).execute(),
  )
  t.same(await all('limit=1&status=bounced'), [first.email])
  const { nextCursor } = (await call('GET', `${at}?limit=1`)).json
  for (const path of [
    `${at}?status=bounced&cursor=${nextCursor}`,
    `/v1/broadcasts?cursor=${nextCursor}`,
  ]) {
    t.equal((await call('GET', path)).status, 400, path)
  }
  const { apiKey: key } = await addAccount('Stranger')
  t.equal((await call('GET', at, { key })).status, 404)
  const renaming = { key, body: { name: 'Mine' } }
  t.equal((await call('PATCH', `/v1/contacts/lists/${list}`, renaming)).status, 404)
  const renamed = await call('PATCH', `/v1/contacts/lists/${list}`, { body: { name: ' New ' } })
  t.match(renamed.json, { id: list, name: 'New', contactCount: 5 })
})

t.test('recipients of a rare status are looked for some at a time', async (t) => {
  const { send, store } = await startPosthorn(t)
  await send({ from: 'a@sender.test', to: 'r@x.test', subject: 'News', html: '<p>x</p>' })
  await store.write(async (tx) => {
    const mail = await copiedMail(tx)
    const rows = Array.from({ length: 900 }, (_, n) => ({
      ...mail,
      id: `mail-${1_000 + n}`,
      broadcast_id: 'campaign',
      status: n === 800 ? ('bounced' as const) : ('delivered' as const),
    }))
    await tx.insertInto('emails').values(rows).execute()
  })
  const part = { status: 'bounced', limit: 5 } as const
  const { value, turns } = await turnsDuring(() => pageOfRecipients(store.read, 'campaign', part))
  t.match(value, { recipients: [{ emailId: 'mail-1800' }], endsAt: null })
  t.ok(turns >= 4, `${turns} turns for others`)
})
