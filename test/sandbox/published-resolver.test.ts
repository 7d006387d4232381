import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { signMessage } from '../../src/dkim/index.js'
import { addDomain, signingKeys } from '../../src/domains/index.js'
import { publishedResolver } from '../../src/sandbox/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'
import { startSandbox } from './start.js'

const settings = { heloName: 'mx.shop.test', sourceAddresses: [] }

t.test(
  'a mail signed and sent as the domain says passes before anything is published',
  async (t) => {
    const { deps, account } = await appliance(t)
    const domain = await addDomain(deps, account.id, 'shop.test', { trust: true })
    const { keys = [] } = (await signingKeys(deps.store.read, deps.key, domain.id)) ?? {}
    const header = Buffer.from('From: orders@shop.test\r\nTo: a@b.test\r\nSubject: Hi\r\n')
    const body = Buffer.from('Signed words.\r\n')
    const timeSeconds = Math.floor(systemClock.now() / 1000)
    const signatures = signMessage({ header, body }, keys, { timeSeconds })
    const raw = Buffer.concat([signatures, header, Buffer.from('\r\n'), body])

    const resolver = publishedResolver(deps, settings)
    const sandbox = await startSandbox(t, { store: deps.store, resolver })
    await sandbox.send(raw, ['a@b.test'], 'v1@bounce.shop.test')
    const [mail] = await sandbox.checked(1)
    t.match(mail?.verdicts, {
      dkim: [{ result: 'pass' }, { result: 'pass' }],
      spf: { result: 'pass', domain: 'bounce.shop.test' },
      dmarc: { result: 'pass', domain: 'shop.test' },
    })
  },
)

t.test('a new domain counts after two seconds, an unknown name never', async (t) => {
  const { deps, account } = await appliance(t)
  const clock = new FakeClock()
  const resolver = publishedResolver({ ...deps, clock }, settings)
  t.same(await resolver.txt('_dmarc.late.test'), { kind: 'nxdomain' })
  await addDomain(deps, account.id, 'late.test')
  await clock.advance(1_900)
  t.same(await resolver.txt('_dmarc.late.test'), { kind: 'nxdomain' }, 'the table is shared')
  await clock.advance(200)
  t.match(await resolver.txt('_dmarc.late.test'), { kind: 'records', records: [/^v=DMARC1/] })
  t.match(await resolver.mx('bounce.late.test'), {
    kind: 'records',
    records: [{ exchange: 'mx.shop.test' }],
  })
  for (const ask of [resolver.a, resolver.aaaa, resolver.cname, resolver.ptr, resolver.txt]) {
    t.same(await ask('example.com'), { kind: 'nxdomain' })
  }
})

async function appliance(t: Parameters<typeof openTestStore>[0]) {
  const store = await openTestStore(t)
  const deps = { store, clock: systemClock, key: makeApplianceKey(Buffer.alloc(32, 1)) }
  return { deps, account: await createAccount(deps, 'Shop') }
}
