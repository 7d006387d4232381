import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import {
  beat,
  holderOf,
  lastBeatOf,
  leaseMs,
  readLastBeat,
  releaseDatabase,
  takeDatabase,
  wentBack,
  writeLastBeat,
} from '../../src/nodes/index.js'
import { joinTurns, makeTurns, openStore, type Store } from '../../src/store/index.js'
import { databaseOf, noPostgres, startPostgres } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const alone = (name: string) => ({ name, joins: false })
const together = (name: string) => ({ name, joins: true })

async function taken(store: Store, comer: Parameters<typeof takeDatabase>[1]) {
  const held = await takeDatabase(store, comer)
  if (held === undefined) throw new Error('somebody has it')
  return held
}

const endLease = (store: Store, name: string) =>
  store.write((tx) =>
    tx.updateTable('nodes').set({ held_until: 0 }).where('name', '=', name).execute(),
  )

t.test(
  'a second appliance is refused until the first one has given the database back',
  async (t) => {
    const store = await openTestStore(t)
    const first = await taken(store, alone('one'))
    t.match(first, { number: 1, isFirst: true })
    t.equal(await takeDatabase(store, alone('two')), undefined)
    // Of the same name: a copy of the machine.
    t.equal(await takeDatabase(store, alone('one')), undefined)
    const holder = await holderOf(store.read, alone('two'))
    t.equal(holder?.name, 'one')
    t.ok(holder !== undefined && holder.silentMs >= 0 && holder.silentMs < leaseMs)
    await releaseDatabase(store, first)
    t.equal(await holderOf(store.read, alone('two')), undefined)
    // Whoever is alone goes on with what the one before has left, which has the same number.
    const second = await taken(store, alone('two'))
    t.match(second, { name: 'two', number: 1, epoch: first.epoch + 1, isFirst: true })
    t.same(await store.read.selectFrom('nodes').select('name').execute(), [{ name: 'two' }])
  },
)

t.test('several are there at once where all of them say so, each with its number', async (t) => {
  const store = await openTestStore(t)
  const one = await taken(store, together('one'))
  t.equal(await takeDatabase(store, alone('two')), undefined, 'one that is to be alone is not')
  const two = await taken(store, together('two'))
  t.match(
    [one, two],
    [
      { number: 1, isFirst: true },
      { number: 2, isFirst: false },
    ],
  )
  t.equal(await takeDatabase(store, together('two')), undefined, 'of one name there is one')
  t.match(await holderOf(store.read, together('two')), { name: 'two' })
  // Its number is its own: what waits under it is sent by the one of that name.
  await releaseDatabase(store, two)
  const again = await taken(store, together('two'))
  t.match(again, { number: 2, epoch: two.epoch + 1 })
  t.equal(await beat(store, two, 0), undefined)
  await releaseDatabase(store, one)
  await releaseDatabase(store, again)
  await taken(store, alone('three'))
  t.equal(await takeDatabase(store, together('one')), undefined, 'nor beside one that is alone')
})

t.test('no epoch is given twice, also after a node was forgotten', async (t) => {
  const store = await openTestStore(t)
  await store.write((tx) => tx.insertInto('appliance').values({ id: 1, key_check: '' }).execute())
  const first = await taken(store, together('one'))
  await store.write((tx) => tx.deleteFrom('nodes').execute())
  t.equal((await taken(store, together('two'))).epoch, first.epoch + 1)
})

t.test(
  'who was held up for longer than its lease finds that another one has taken it',
  async (t) => {
    const store = await openTestStore(t)
    const first = await taken(store, alone('one'))
    const alive = await beat(store, first, Date.now())
    t.match(alive, { ...first, beat: first.beat + 1, others: {} })
    await endLease(store, 'one')
    const again = await taken(store, alone('one'))
    t.equal(await beat(store, first, Date.now()), undefined)
    // It takes nothing back from the other one either.
    await releaseDatabase(store, first)
    t.equal((await holderOf(store.read, alone('two')))?.name, 'one')
    t.ok((await beat(store, again, Date.now())) !== undefined)
  },
)

t.test('a file is taken at once, by whoever has its directory', async (t) => {
  const store = await openTestStore(t)
  const first = await taken(store, { ...alone('one'), isFile: true })
  const second = await taken(store, { ...alone('renamed'), isFile: true })
  t.match(second, { number: 1, epoch: first.epoch + 1, isFirst: true })
})

t.test('a database that went back knows less signs of life than it has acknowledged', async (t) => {
  const store = await openTestStore(t)
  const dataDir = makeTempDir(t)
  t.equal(readLastBeat(dataDir), undefined)
  t.equal(wentBack(undefined, 0), undefined)
  const held = await taken(store, together('one'))
  const now = await beat(store, held, Date.now())
  writeLastBeat(dataDir, { beat: now?.beat ?? 0, at: 5 })
  const last = readLastBeat(dataDir)
  t.same(last, { beat: held.beat + 1, at: 5 })
  t.equal(wentBack(last, await lastBeatOf(store.read, 'one')), undefined)
  t.equal(wentBack(last, held.beat), 2_000)
  // Another appliance's go on where those of the first have ended; each compares its own.
  await taken(store, together('two'))
  t.equal(wentBack(last, await lastBeatOf(store.read, 'two')), undefined)
  await store.write((tx) =>
    tx.updateTable('nodes').set({ beat: held.beat }).where('name', '=', 'one').execute(),
  )
  t.equal(wentBack(last, await lastBeatOf(store.read, 'one')), 2_000)
  writeFileSync(join(dataDir, 'store.beat'), '{"beat":"no')
  t.equal(readLastBeat(dataDir), undefined)
})

t.test(
  'a sign of life sees that others have committed, and takes no sign of theirs for that',
  { skip: noPostgres },
  async (t) => {
    const server = await startPostgres(t)
    const dataDir = makeTempDir(t)
    const url = await databaseOf(dataDir, server.url)
    const open = async (name: string) => {
      const turns = makeTurns()
      const store = await openStore({ dataDir, url, clock: systemClock, turns, slot: 0 })
      t.teardown(() => store.close())
      let held = await taken(store, together(name))
      const { transactions } = joinTurns(turns, 0)
      return {
        store,
        async look() {
          const next = await beat(store, held, Date.now(), { transactions })
          if (next === undefined) throw new Error('it is gone')
          held = next
          return next.others
        },
      }
    }
    const [one, two] = [await open('one'), await open('two')]
    const first = await one.look()
    t.equal(first.unsure, 0)
    t.ok(first.leaseLeftMs > 0 && first.leaseLeftMs <= leaseMs)
    await two.look()
    await two.look()
    t.equal((await one.look()).commits, first.commits, 'signs of life are no news')
    const touch = (store: Store) =>
      store.write((tx) => tx.updateTable('appliance').set({ alive_at: 1 }).execute())
    await touch(one.store)
    t.equal((await one.look()).commits, first.commits, 'nor what it has done itself')
    await touch(two.store)
    t.equal((await one.look()).commits, first.commits + 1)
    // One that began before and ends after others is seen when it ends.
    let end = () => {}
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    let begun = () => {}
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const long = two.store.byRow(async (tx) => {
      await tx.updateTable('appliance').set({ alive_at: 2 }).execute()
      begun()
      await held
    })
    await isBegun
    t.equal((await one.look()).commits, first.commits + 1)
    end()
    await long
    t.equal((await one.look()).commits, first.commits + 2)
    const { standing } = await one.look()
    await two.store.write((tx) =>
      tx.updateTable('nodes').set({ draining: 1 }).where('name', '=', 'two').execute(),
    )
    t.not((await one.look()).standing, standing)
  },
)
