import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
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
import { makeTempDir, openTestStore } from '../support/store.js'

t.test(
  'a second appliance is refused until the first one has given the database back',
  async (t) => {
    const store = await openTestStore(t)
    const first = await takeDatabase(store, 'one')
    if (first === undefined) throw new Error('nobody had it')
    t.equal(await takeDatabase(store, 'two'), undefined)
    // Of the same name: a copy of the machine.
    t.equal(await takeDatabase(store, 'one'), undefined)
    const holder = await holderOf(store.read)
    t.equal(holder?.name, 'one')
    t.ok(holder !== undefined && holder.silentMs >= 0 && holder.silentMs < leaseMs)
    await releaseDatabase(store, first)
    t.equal(await holderOf(store.read), undefined)
    const second = await takeDatabase(store, 'two')
    t.match(second, { name: 'two', epoch: first.epoch + 1 })
  },
)

t.test(
  'who was held up for longer than its lease finds that another one has taken it',
  async (t) => {
    const store = await openTestStore(t)
    const first = await takeDatabase(store, 'one')
    if (first === undefined) throw new Error('nobody had it')
    const alive = await beat(store, first)
    t.same(alive, { ...first, beat: first.beat + 1 })
    await store.write((tx) => tx.updateTable('nodes').set({ held_until: 0 }).execute())
    const again = await takeDatabase(store, 'one')
    t.equal(await beat(store, first), undefined)
    // It takes nothing back from the other one either.
    await releaseDatabase(store, first)
    t.equal((await holderOf(store.read))?.name, 'one')
    t.ok(again !== undefined && (await beat(store, again)) !== undefined)
  },
)

t.test('a database that went back knows less signs of life than it has acknowledged', async (t) => {
  const store = await openTestStore(t)
  const dataDir = makeTempDir(t)
  t.equal(readLastBeat(dataDir), undefined)
  t.equal(wentBack(undefined, 0), undefined)
  const held = await takeDatabase(store, 'one')
  if (held === undefined) throw new Error('nobody had it')
  const now = await beat(store, held)
  writeLastBeat(dataDir, { beat: now?.beat ?? 0, at: 5 })
  const last = readLastBeat(dataDir)
  t.same(last, { beat: held.beat + 1, at: 5 })
  t.equal(wentBack(last, await lastBeatOf(store.read)), undefined)
  t.equal(wentBack(last, held.beat), 2_000)
  // Another appliance's go on where those of the first have ended.
  await releaseDatabase(store, held)
  await takeDatabase(store, 'two')
  t.equal(wentBack(last, await lastBeatOf(store.read)), undefined)
  writeFileSync(join(dataDir, 'store.beat'), '{"beat":"no')
  t.equal(readLastBeat(dataDir), undefined)
})
