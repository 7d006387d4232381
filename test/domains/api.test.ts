// Issue 'For developers' 2: domains by the API.
import t from 'tap'
import { dkimRecord, generateDkimKeyPair } from '../../src/dkim/index.js'
import { startPosthorn } from '../support/posthorn.js'

const pair = await generateDkimKeyPair('rsa-sha256')
const published = dkimRecord({ algorithm: 'rsa-sha256', publicKeyBase64: pair.publicKeyBase64 })
const posthorn = await startPosthorn(t, {
  dns: {
    '*': { txt: [published] },
    'bounce.xn--bcher-kva.example': {
      mx: [{ preference: 10, exchange: 'localhost' }],
      txt: ['v=spf1 a:localhost -all'],
    },
  },
})
const nobody = '01900000-0000-7000-8000-000000000000'

t.test('a domain is added, published, verified, tracked and deleted', async (t) => {
  const { json } = await posthorn.call('POST', '/v1/domains', { body: { name: 'Bücher.example' } })
  t.match(json, { name: 'xn--bcher-kva.example', status: 'pending', trusted: false })
  t.notMatch(JSON.stringify(json), /PRIVATE/)
  t.same(
    json.records.map((record: { purpose: string; type: string }) => record.purpose),
    ['dkim-rsa', 'dkim-ed25519', 'return-path-mx', 'return-path-spf', 'dmarc'],
  )
  for (const record of json.records) t.ok(json.zone.includes(`${record.name}. `), record.name)

  const at = `/v1/domains/${json.id}`
  const missing = await posthorn.call('POST', `${at}/verify`)
  t.match(missing.json, {
    status: 'pending',
    checkedAt: String,
    returnPath: true,
    records: [
      { purpose: 'dkim-rsa', state: 'different', found: [published], advice: /^Replace/ },
      { purpose: 'dkim-ed25519', state: 'different' },
      { purpose: 'return-path-mx', state: 'ok', found: ['10 localhost'], advice: '' },
      { purpose: 'return-path-spf', state: 'ok' },
      { purpose: 'dmarc', state: 'missing', found: [] },
    ],
  })
  await posthorn.store.write((tx) =>
    tx
      .updateTable('dkim_keys')
      .set({ public_key: pair.publicKeyBase64 })
      .where('domain_id', '=', json.id)
      .where('algorithm', '=', 'rsa-sha256')
      .execute(),
  )
  const good = await posthorn.call('POST', `${at}/verify`)
  t.match(good.json, { status: 'verified', verifiedAt: String, records: [{ state: 'ok' }] })
  t.match((await posthorn.call('GET', at)).json, { status: 'verified', dkim: [{ verified: true }] })

  const changes = { trackClicks: 'off', trackingHost: 'links.xn--bcher-kva.example' }
  const changed = await posthorn.call('PATCH', at, { body: changes })
  t.match(changed.json, { trackOpens: 'default', ...changes, trackingHostReady: false })
  t.match(changed.json.records.at(-1), { type: 'CNAME', name: changes.trackingHost })
  const back = { trackClicks: 'default', trackingHost: '' }
  t.match((await posthorn.call('PATCH', at, { body: back })).json, {
    trackClicks: 'default',
    trackingHost: null,
  })
  const stranger = await posthorn.addAccount('Stranger')
  for (const [method, path] of [
    ['GET', at],
    ['DELETE', at],
    ['POST', `${at}/verify`],
    ['GET', `/v1/domains/${nobody}`],
    ['GET', '/v1/domains/xn--bcher-kva.example'],
  ] as const) {
    t.equal((await posthorn.call(method, path, { key: stranger.apiKey })).status, 404, path)
  }
  t.same((await posthorn.call('GET', '/v1/domains', { key: stranger.apiKey })).json.domains, [])
  t.equal((await posthorn.call('DELETE', at)).status, 200)
  t.equal((await posthorn.call('GET', at)).status, 404)
})

t.test('looks into the DNS are few, and those of others go on', async (t) => {
  const { json } = await posthorn.call('POST', '/v1/domains', { body: { name: 'often.test' } })
  const look = () => posthorn.call('POST', `/v1/domains/${json.id}/verify`)
  let answer = await look()
  for (let looks = 0; looks < 12 && answer.status === 200; looks++) answer = await look()
  t.match(answer, { status: 429, json: { code: 'rate_limit_exceeded' } })
  t.ok(Number(answer.headers.get('retry-after')) > 0)
  const other = await posthorn.addAccount('Other')
  const theirs = { key: other.apiKey, body: { name: 'theirs.test' } }
  const { id } = (await posthorn.call('POST', '/v1/domains', theirs)).json
  const path = `/v1/domains/${id}/verify`
  t.equal((await posthorn.call('POST', path, { key: other.apiKey })).status, 200)
})

t.test('a repeat with the same Idempotency-Key adds no second domain', async (t) => {
  const headers = { 'idempotency-key': 'add-domain' }
  const add = () => posthorn.call('POST', '/v1/domains', { headers, body: { name: 'again.test' } })
  const [first, second] = [await add(), await add()]
  t.match(second, { status: 201, json: first.json })
})
