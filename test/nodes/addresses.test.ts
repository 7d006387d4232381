import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { checkNodes } from '../../src/doctor/nodes.js'
import { recordSettings, recordSettingsOf, spfMechanisms } from '../../src/domains/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  changeNode,
  claimAddresses,
  disputedAddresses,
  ownersOf,
  recordsOfOthers,
  takeDatabase,
  tellRecords,
  threadsOf,
} from '../../src/nodes/index.js'
import { makePoolsElsewhere } from '../../src/outbound/routing/index.js'
import { queueClass, type Store } from '../../src/store/index.js'
import { openTestStore } from '../support/store.js'

async function join(store: Store, name: string) {
  const held = await takeDatabase(store, { name, joins: true })
  if (held === undefined) throw new Error('somebody has it')
  return held
}

const end = (store: Store, name: string) =>
  store.write((tx) =>
    tx.updateTable('nodes').set({ gone_at: 1, held_until: 0 }).where('name', '=', name).execute(),
  )

t.test('an address is the node that named it first, until that is gone', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await join(store, 'one'), await join(store, 'two')]
  t.same(await claimAddresses(store, one, ['192.0.2.1', '192.0.2.2']), {
    own: ['192.0.2.1', '192.0.2.2'],
    taken: [],
  })
  t.same(await claimAddresses(store, two, ['192.0.2.2', '192.0.2.3']), {
    own: ['192.0.2.3'],
    taken: [{ address: '192.0.2.2', node: 'one' }],
  })
  t.same(await disputedAddresses(store.read), [
    { address: '192.0.2.2', claimant: 'two', owner: 'one' },
  ])
  t.match(
    await ownersOf(store.read, ['192.0.2.2', '192.0.2.9']),
    new Map([['192.0.2.2', { node: 'one', isAlive: true }]]),
  )
  // Both start again, the second one first.
  t.same((await claimAddresses(store, two, ['192.0.2.2'])).own, [])
  await end(store, 'one')
  t.match(await ownersOf(store.read, ['192.0.2.2']), new Map([['192.0.2.2', { isAlive: false }]]))
  t.same((await claimAddresses(store, two, ['192.0.2.2'])).own, ['192.0.2.2'], 'it moved')
  const again = await join(store, 'one')
  t.same(await claimAddresses(store, again, ['192.0.2.1', '192.0.2.2']), {
    own: ['192.0.2.1'],
    taken: [{ address: '192.0.2.2', node: 'two' }],
  })
})

t.test('records name the addresses and hosts of all nodes, until one is forgotten', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await join(store, 'one'), await join(store, 'two')]
  const told = { names: [], addresses: [] }
  const ofOne = { ...told, spf: ['ip4:192.0.2.1'], mx: 'one.test' }
  await tellRecords(store, one, ofOne)
  await tellRecords(store, two, { ...told, spf: ['ip4:192.0.2.2', 'ip4:192.0.2.1'], mx: null })
  await claimAddresses(store, two, ['192.0.2.2'])
  const env = {
    POSTHORN_NODE_JOIN: 'true',
    POSTHORN_NODE_NAME: 'one',
    POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '192.0.2.1',
    POSTHORN_OUTBOUND_HELO_NAME: 'one.test',
  }
  const config = loadConfig({ env })
  const settings = await recordSettingsOf(store.read, config)
  t.same(spfMechanisms(settings), ['ip4:192.0.2.1', 'ip4:192.0.2.2'])
  t.same(spfMechanisms(recordSettings(config)), ['ip4:192.0.2.1'])
  t.same(await recordsOfOthers(store.read, 'two'), [ofOne])
  await store.write((tx) =>
    tx
      .insertInto('site_states')
      .values(
        [one, two].map(({ number }) => ({
          site: 'a',
          source: 'b',
          thread: threadsOf({ number }).first,
          learned: '{}',
          updated_at: 1,
        })),
      )
      .execute(),
  )
  await end(store, 'two')
  const onServer = loadConfig({ env: { ...env, POSTHORN_STORE_URL: 'postgres://db.test/mail' } })
  t.match(await checkNodes({ read: store.read, config: onServer }), [
    { check: 'nodes', subject: 'two', state: 'fail', found: /it is gone/ },
  ])
  t.same(await checkNodes({ read: store.read, config }), [], 'of an appliance that is alone')
  t.same(spfMechanisms(await recordSettingsOf(store.read, config)), [
    'ip4:192.0.2.1',
    'ip4:192.0.2.2',
  ])
  await store.write((tx) => changeNode(tx, 'forget', 'two'))
  t.same(spfMechanisms(await recordSettingsOf(store.read, config)), ['ip4:192.0.2.1'])
  t.same(await ownersOf(store.read, ['192.0.2.2']), new Map())
  t.match(await store.read.selectFrom('site_states').select('thread').execute(), [{ thread: 0 }])
})

t.test('mail of a pool whose node is gone waits, or leaves from any address', async (t) => {
  const store = await openTestStore(t)
  const one = await join(store, 'one')
  await claimAddresses(store, one, ['192.0.2.1'])
  await end(store, 'one')
  const deps = { store, clock: systemClock, log: silentLog, backlog: { change() {} } }
  const away = (whenAway?: 'wait' | 'any') => ({
    name: 'p',
    turns: [],
    elsewhere: { addresses: ['192.0.2.1'], whenAway },
  })
  const pools = [away(), away('wait'), away('any')]
  const elsewhere = await makePoolsElsewhere(deps, pools, { onChange() {}, onMoved() {} })
  t.teardown(() => elsewhere.close())
  const why = (of: keyof typeof queueClass, pool: ReturnType<typeof away>) =>
    elsewhere.of({ lane: { name: 'x.test' }, accountId: 'a', class: queueClass[of] }, pool)
  t.equal(why('transactional', away()), undefined)
  t.match(why('campaign', away()), /those of one, which is gone; it waits for them/)
  t.match(why('automation', away()), /waits/)
  t.match(why('transactional', away('wait')), /waits/)
  t.equal(why('campaign', away('any')), undefined)
})
