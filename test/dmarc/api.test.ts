import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const dayMs = 86_400_000

t.test('what was reported is shown by the API, to whoever may read the domain', async (t) => {
  const env = { POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '127.0.0.1' }
  const dns = { '127.0.0.1': { ptr: ['mail.sender.test'] } }
  const posthorn = await startPosthorn(t, { env, dns })
  const { store, call } = posthorn
  const [{ id }] = (await call('GET', '/v1/domains')).json.domains
  const today = Math.floor(Date.now() / dayMs)
  const of = { domain_id: id, reporter: 'google.com', disposition: 'none' as const, forwarded: 0 }
  await store.write(async (tx) => {
    for (const [day, source, messages] of [
      [today - 40, '127.0.0.1', 1_000],
      [today - 8, '127.0.0.1', 20],
      [today - 1, '127.0.0.1', 100],
      [today - 1, '198.51.100.7', 9],
    ] as const) {
      const passed = source === '127.0.0.1' ? 1 : 0
      const identifiers = passed === 1 ? 'dkim=pass sender.test' : 'spf=pass spam.test'
      const row = { ...of, day, source, messages, dkim: passed, spf: 0, proven: 1, identifiers }
      await tx.insertInto('dmarc_sources').values(row).execute()
    }
  })
  const at = `/v1/domains/${id}/dmarc`
  const { json } = await call('GET', at)
  t.match(json, { id, name: 'sender.test', messages: 129, passed: 120 })
  t.match(json.sources, [
    { address: '127.0.0.1', name: 'mail.sender.test', kind: 'ours', messages: 120, advice: '' },
    { address: '198.51.100.7', kind: 'other', messages: 9, advice: /p=quarantine/ },
  ])
  t.equal((await call('GET', `${at}?days=7`)).json.messages, 109)
  t.equal((await call('GET', `${at}?days=400`)).json.messages, 1_129)
  for (const days of ['0', '401', 'all']) {
    t.equal((await call('GET', `${at}?days=${days}`)).status, 400, days)
  }

  const keyOf = async (body: object) =>
    (await call('POST', '/v1/keys', { body: { name: 'x', ...body } })).json.key
  t.equal((await call('GET', at, { key: await keyOf({ scope: 'read' }) })).status, 200)
  // Only sending keys are limited to domains, and those read no figures.
  const limited = await keyOf({ scope: 'sending', domains: ['sender.test'] })
  t.equal((await call('GET', at, { key: limited })).status, 403)
  const other = await posthorn.addAccount('Other')
  t.equal((await call('GET', at, { key: other.apiKey })).status, 404)
})
