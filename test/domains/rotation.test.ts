// Issue 'what operators and developers ask', 1: DKIM keys are replaced without a moment in which mail cannot be checked.
import t from 'tap'
import { dayMs } from '../../src/clock/index.js'
import { staticResolver } from '../../src/dns/index.js'
import {
  checkDomainsAgain,
  checkRotations,
  type Domain,
  domainRecords,
  findDomain,
  oldRecords,
  rotateDomain,
  signingKeys,
  verifyDomain,
} from '../../src/domains/index.js'
import { silentLog } from '../../src/log/index.js'
import { openDomains, settings } from './open.js'

/** A domain whose records are published, and a zone that the test writes. */
async function published(t: Parameters<typeof openDomains>[0]) {
  const rig = await openDomains(t)
  const { deps, accountId, read } = rig
  const zone: Record<string, { txt?: string[] }> = {}
  const resolver = staticResolver(zone)
  const publish = (domain: Domain, only: (purpose: string) => boolean = () => true) => {
    for (const { purpose, type, host, value } of domainRecords(domain, settings)) {
      if (type === 'TXT' && only(purpose)) zone[host] = { txt: [value] }
    }
  }
  const verify = async () =>
    (await verifyDomain({ ...deps, resolver: staticResolver(zone) }, accountId, 'one.test')).domain
  publish(await rig.add('one.test'))
  const before = await verify()
  const rotate = (atOnce = false) => rotateDomain(deps, accountId, 'one.test', { atOnce })
  const look = () =>
    checkRotations({
      ...deps,
      log: silentLog,
      resolver: staticResolver(zone),
      signal: new AbortController().signal,
    })
  const find = () => findDomain(read, accountId, 'one.test')
  const signs = async () =>
    (await signingKeys(read, deps.key, before.id))?.keys.map(({ selector }) => selector)
  const selectors = (domain: Domain) => domain.keys.map(({ selector }) => selector)
  return { ...rig, zone, resolver, publish, verify, before, rotate, look, find, signs, selectors }
}

t.test('new keys sign once their records are seen, and not before', async (t) => {
  const { clock, store, before, publish, rotate, look, find, signs, selectors, zone, verify } =
    await published(t)
  t.equal(before.status, 'verified')
  const rotated = await rotate()
  t.same(selectors(rotated), selectors(before), 'those in use stay')
  t.equal(rotated.next.length, 2)
  await t.rejects(rotate(), { code: 'conflict' })
  await look()
  t.same(await signs(), selectors(before), 'nothing is published yet')
  t.equal((await verify()).status, 'verified', 'and nothing is refused meanwhile')

  publish(rotated, (purpose) => purpose === 'dkim-rsa-next')
  await look()
  const half = await find()
  t.same(await signs(), [rotated.next[0]?.selector, before.keys[1]?.selector])
  t.equal(half.next.length, 1, 'the Ed25519 key waits for its own record')
  publish(rotated)
  await look()
  const after = await find()
  t.same(
    selectors(after),
    rotated.next.map(({ selector }) => selector),
  )
  t.same(await signs(), selectors(after))
  t.same(after.next, [])

  const rows = await store.read
    .selectFrom('dkim_keys')
    .select('private_key')
    .where('stage', '=', 'past')
    .execute()
  t.same(
    rows.map((row) => row.private_key.length),
    [0, 0],
    'their private halves are forgotten',
  )
  const old = () => find().then((domain) => oldRecords(domain, clock.now()))
  t.match(await old(), [{ mayGo: false }, { mayGo: false }])
  await verify()
  t.equal((await old()).length, 2)
  await clock.advance(7 * dayMs)
  t.match(await old(), [{ mayGo: true }, { mayGo: true }])
  await verify()
  t.equal((await old()).length, 2, 'they are listed until they are gone')
  for (const { host } of await old()) delete zone[host]
  await verify()
  t.same(await old(), [])
})

t.test('a key that has leaked signs no more at once, and no mail is refused', async (t) => {
  const { before, rotate, signs, find, publish, verify, look, selectors, clock, deps, store } =
    await published(t)
  const rotated = await rotate(true)
  t.same(await signs(), [], 'the new one waits for its record')
  t.equal((await find()).status, 'verified')
  t.equal((await verify()).status, 'verified', 'also after a look that finds nothing')
  t.same(
    oldRecords(rotated, clock.now()).map(({ mayGo }) => mayGo),
    [true, true],
    'its record has to go now',
  )
  t.notSame(selectors(rotated), selectors(before))
  publish(rotated)
  await look()
  t.same(await signs(), selectors(rotated))
  // The job of the day finds it too.
  const again = await rotate(true)
  publish(again)
  const zone = Object.fromEntries(
    domainRecords(again, settings).map(({ host, value }) => [host, { txt: [value] }]),
  )
  await checkDomainsAgain({
    ...deps,
    log: silentLog,
    resolver: staticResolver(zone),
    signal: new AbortController().signal,
  })
  t.same(await signs(), selectors(again))
  t.equal((await store.read.selectFrom('dkim_keys').select('id').execute()).length >= 2, true)
})

t.test('keys that were to come are thrown away where those in use have leaked', async (t) => {
  const { rotate, find } = await published(t)
  const planned = await rotate()
  const rotated = await rotate(true)
  t.same(rotated.next, [])
  const all = [...rotated.keys, ...rotated.past].map(({ selector }) => selector)
  for (const { selector } of planned.next) t.notOk(all.includes(selector))
  t.same((await find()).keys, rotated.keys)
})

t.test(
  'where the Ed25519 key never signed, the next one does not wait for its record',
  async (t) => {
    const rig = await openDomains(t)
    const { deps, accountId } = rig
    const zone: Record<string, { txt?: string[] }> = {}
    const publishRsa = (domain: Domain) => {
      for (const { purpose, host, value } of domainRecords(domain, settings)) {
        if (purpose.startsWith('dkim-rsa')) zone[host] = { txt: [value] }
      }
    }
    publishRsa(await rig.add('one.test'))
    const verify = () =>
      verifyDomain({ ...deps, resolver: staticResolver(zone) }, accountId, 'one.test')
    await verify()
    publishRsa(await rotateDomain(deps, accountId, 'one.test'))
    await verify()
    const after = await findDomain(rig.read, accountId, 'one.test')
    t.same(after.next, [])
    t.same(
      after.keys.map(({ verified }) => verified),
      [true, false],
    )
    await verify()
    const { past } = await findDomain(rig.read, accountId, 'one.test')
    t.same(
      past.map(({ algorithm }) => algorithm),
      ['rsa-sha256'],
      'what has signed nothing is not kept',
    )
  },
)
