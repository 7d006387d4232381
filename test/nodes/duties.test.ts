import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { troubledNodes } from '../../src/app/node-conditions.js'
import { dutiesChore } from '../../src/app/several.js'
import { type Log, silentLog } from '../../src/log/index.js'
import {
  beat,
  changeNode,
  dutiesInWords,
  dutyKinds,
  dutyNames,
  endSilent,
  giveBackDuty,
  holds,
  holdsAll,
  holdsPart,
  listNodes,
  othersThan,
  partsHeld,
  shareDuties,
  takeDatabase,
} from '../../src/nodes/index.js'
import { becomeNode, makeTurns, noteOthers, ownNodeIn, type Store } from '../../src/store/index.js'
import { openTestStore } from '../support/store.js'

const fair = Math.ceil(dutyNames.length / 2)
const few = dutyNames.length - fair

async function join(store: Store, name: string, weight = 1) {
  const held = await takeDatabase(store, { name, joins: true, weight })
  if (held === undefined) throw new Error('somebody has it')
  return held
}

const silence = (store: Store, name: string) =>
  store.write((tx) =>
    tx.updateTable('nodes').set({ held_until: 1 }).where('name', '=', name).execute(),
  )

t.test('duties are shared, and taken over from who is gone', async (t) => {
  const store = await openTestStore(t)
  const one = await join(store, 'one')
  t.same((await shareDuties(store, one)).own, dutyNames, 'who is alone has all')
  const two = await join(store, 'two')
  t.same((await shareDuties(store, two)).own, [], 'none is taken from who lives')
  const { own, tooMany } = await shareDuties(store, one)
  t.equal(tooMany, few)
  for (const name of own.slice(0, tooMany)) await giveBackDuty(store, one, name)
  t.same((await shareDuties(store, two)).own, own.slice(0, tooMany))
  t.same(await shareDuties(store, one), { own: own.slice(tooMany), tooMany: 0 })
  await silence(store, 'one')
  t.equal((await shareDuties(store, two)).own.length, tooMany, 'its epoch is not over yet')
  t.same(await endSilent(store, two), ['one'])
  t.same(await endSilent(store, two), [], 'once')
  t.equal(await beat(store, one, 0), undefined)
  t.same(new Set((await shareDuties(store, two)).own), new Set(dutyNames))
  t.same(await shareDuties(store, one), { own: [], tooMany: 0 }, 'who is gone takes none')
})

t.test('beside a node of the release before, every duty has an owner', async (t) => {
  const store = await openTestStore(t)
  const old = await join(store, 'old')
  const whole = ['chores', 'calendar', 'courier', 'expand', 'automate', 'segments', 'figures']
  await store.write(async (tx) => {
    await tx.updateTable('nodes').set({ schema: '0001-before' }).where('name', '=', 'old').execute()
    const values = whole.map((name) => ({ name, epoch: old.epoch, since: 0 }))
    await tx.insertInto('duties').values(values).execute()
  })
  // It knows of two nodes and seven duties, and gives back what is more than its share.
  const kept = whole.slice(0, 4)
  await store.write((tx) =>
    tx.updateTable('duties').set({ epoch: 0 }).where('name', 'not in', kept).execute(),
  )
  const next = await join(store, 'next')
  const { own, tooMany } = await shareDuties(store, next)
  const names: readonly string[] = dutyNames
  t.same(new Set([...kept, ...own]), new Set([...kept, ...names]))
  t.equal(tooMany, 0)
  await store.write((tx) =>
    tx.updateTable('nodes').set({ schema: '' }).where('name', '=', 'old').execute(),
  )
  t.equal(
    (await shareDuties(store, next)).tooMany,
    own.length - fair,
    'once it is brought up to date',
  )
})

t.test('a duty that two look at is taken by one of them', async (t) => {
  const store = await openTestStore(t)
  const nodes = [await join(store, 'one'), await join(store, 'two'), await join(store, 'three')]
  const shares = await Promise.all(nodes.map((node) => shareDuties(store, node)))
  const taken = shares.flatMap(({ own }) => own)
  t.same([...taken].sort(), [...dutyNames].sort())
})

t.test('shares go by the weights of those that are there', async (t) => {
  const store = await openTestStore(t)
  const large = await join(store, 'large', 3)
  await shareDuties(store, large)
  const small = await join(store, 'small')
  const { own, tooMany } = await shareDuties(store, large)
  t.equal(tooMany, dutyNames.length / 4)
  for (const name of own.slice(0, tooMany)) await giveBackDuty(store, large, name)
  t.equal((await shareDuties(store, small)).own.length, dutyNames.length / 4)
  t.match(await listNodes(store.read, { isFile: false }), [{ weight: 3 }, { weight: 1 }])
  await store.write((tx) => changeNode(tx, 'drain', 'large'))
  t.equal((await shareDuties(store, large)).tooMany, dutyNames.length - tooMany)
})

t.test('who drains gives up its duties, and who is fenced has none', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await join(store, 'one'), await join(store, 'two')]
  await shareDuties(store, one)
  await store.write((tx) => changeNode(tx, 'drain', 'one'))
  t.match(await beat(store, one, Date.now()), { isDraining: true })
  t.equal((await shareDuties(store, one)).tooMany, fair)
  t.match(await listNodes(store.read, { isFile: false }), [{ state: 'draining' }, { state: 'up' }])
  await store.write((tx) => changeNode(tx, 'undrain', 'one'))
  t.equal((await shareDuties(store, one)).tooMany, 0)
  await t.rejects(
    store.write((tx) => changeNode(tx, 'forget', 'one')),
    /is not gone: stop it first/,
  )
  await store.write((tx) => changeNode(tx, 'fence', 'one'))
  t.equal(await beat(store, one, Date.now()), undefined)
  t.equal((await shareDuties(store, two)).own.length, dutyNames.length)
  await t.rejects(
    store.write((tx) => changeNode(tx, 'fence', 'one')),
    /gone already/,
  )
  t.match(await listNodes(store.read, { isFile: false }), [{ state: 'lost', duties: [] }, {}])
  await store.write((tx) => changeNode(tx, 'forget', 'one'))
  await t.rejects(
    store.write((tx) => changeNode(tx, 'drain', 'one')),
    /no node one/,
  )
})

t.test('a node whose clock is off has no duties while that of another is right', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await join(store, 'one'), await join(store, 'two')]
  await shareDuties(store, one)
  const left: string[] = []
  const said: string[] = []
  const log: Log = { ...silentLog, warn: (_, message) => void said.push(message) }
  const turns = makeTurns()
  const chore = dutiesChore(
    { store, turns, log, ownNode: { held: one } },
    { taken: async () => {}, left: async (name) => void left.push(name) },
  )
  const look = () => chore.run(new AbortController().signal)
  await look()
  const here = () => dutyNames.filter((_, at) => !ownNodeIn(turns).isOthers(at))
  t.equal(here().length, fair)
  await beat(store, one, Date.now() + 7_000)
  await beat(store, two, Date.now())
  t.match(await troubledNodes(store), [
    { kind: 'node', key: 'clock of one', text: [/^The clock of one is [67] seconds ahead of/] },
  ])
  t.same((await shareDuties(store, two)).own, dutyNames)
  await look()
  t.same(said.length, 1)
  t.match(said[0], /clock of this node is more than 5 seconds off/)
  t.same(left.length, fair, 'what others have taken ends here')
  t.same(here(), [])
  await beat(store, two, Date.now() - 9_000)
  t.same((await shareDuties(store, two)).own, dutyNames, 'where all are off all take part')
  await beat(store, one, Date.now())
  t.same((await shareDuties(store, one)).own, dutyNames)
  t.match(await troubledNodes(store), [{ key: 'clock of two', text: [/ 9 seconds behind /] }])
})

t.test('threads see whose a duty is', (t) => {
  const turns = makeTurns()
  const node = () => ownNodeIn(turns)
  t.ok(
    dutyKinds.every((kind) => holdsAll(node(), kind)),
    'who is alone has all',
  )
  const before = node().othersCommits()
  noteOthers(turns, othersThan(['courier:15', 'chores', 'expand:2']))
  t.same(
    dutyKinds.filter((kind) => holds(node(), kind)),
    ['chores', 'courier', 'expand'],
  )
  t.notOk(holdsAll(node(), 'expand'))
  t.equal(partsHeld(node(), 'courier'), 'courier:15')
  const others = dutyNames.filter((_, at) => node().isOthers(at))
  t.equal(others.length, dutyNames.length - 3, 'each duty has a bit of its own')
  t.not(node().othersCommits(), before, 'whoever rests looks again')
  becomeNode(turns, { number: 31, epoch: 2 ** 40 + 5 })
  t.match(node(), { number: 31, epoch: 2 ** 40 + 5 })
  t.end()
})

t.test('each campaign is one part, and the parts have about as many', (t) => {
  const parts = dutyNames.filter((name) => name.startsWith('expand:'))
  const found = new Map<string, number>()
  for (let n = 0; n < 800; n++) {
    const id = `0193a5c2-7e4f-7a11-9c3d-${n.toString(16).padStart(12, '0')}`
    const of = parts.filter((part) =>
      holdsPart({ isOthers: (duty) => dutyNames[duty] !== part }, 'expand', id),
    )
    t.equal(of.length, 1)
    found.set(of[0] ?? '', (found.get(of[0] ?? '') ?? 0) + 1)
  }
  t.equal(found.size, parts.length)
  t.ok(Math.min(...found.values()) > 50 && Math.max(...found.values()) < 160)
  t.same(dutiesInWords(['calendar', 'expand:0', 'expand:7']), ['calendar', 'expand (2 of 8)'])
  t.same(dutiesInWords(dutyNames), dutyKinds)
  t.end()
})

t.test('every chore says whose it is, and none says a duty that is not there', (t) => {
  const files = readdirSync('src/app').filter((name) => name.endsWith('.ts'))
  let chores = 0
  for (const file of files) {
    const text = readFileSync(`src/app/${file}`, 'utf8')
    const marks = [...text.matchAll(/name: (['"]).+?\1,\s*of: '([\w-]+)'/g)].map(([, , of]) => of)
    const every = [...text.matchAll(/everyMs(?:: [\w.]+)?,\s*(?:async )?run/g)].length
    chores += marks.length
    t.ok(marks.length >= every, `${file} has ${every} chores and ${marks.length} marks`)
    for (const of of marks) t.ok(of === 'node' || dutyKinds.some((kind) => kind === of), `${of}`)
  }
  t.ok(chores > 35)
  t.end()
})
