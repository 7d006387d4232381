import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import {
  deleteUnused,
  makeContent,
  pieceBytes,
  putContents,
  readContent,
  releaseContents,
} from '../../src/contents/index.js'
import type { Store } from '../../src/store/index.js'
import { aboutSqlite } from '../support/postgres.js'
import { queryPlan } from '../support/query-plan.js'
import { openTestStore } from '../support/store.js'

const never = new AbortController().signal

const put = (store: Store, accountId: string, ...contents: Buffer[]) =>
  store.write((tx) => {
    const all = contents.map((bytes) => makeContent([bytes]))
    return putContents(tx, store, accountId, all)
  })

async function read(store: Store, id: number, sizeBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of readContent(store.read, { id, sizeBytes })) pieces.push(piece)
  return Buffer.concat(pieces)
}

const rows = (store: Store) =>
  store.read
    .selectFrom('contents')
    .select(['id', 'account_id', 'size_bytes', 'uses'])
    .orderBy('id')
    .execute()

const pieces = (store: Store) =>
  store.read.selectFrom('content_pieces').selectAll().orderBy('content_id').execute()

t.test('equal bytes are stored once, in whatever chunks they came', async (t) => {
  const store = await openTestStore(t)
  const bytes = randomBytes(3 * pieceBytes + 5)
  const hash = createHash('sha256').update(bytes).digest('base64')
  for (const size of [1_000, 57, pieceBytes, pieceBytes + 1, bytes.length]) {
    const chunks = []
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
    const content = makeContent(chunks)
    t.equal(content.sha256, hash)
    t.equal(content.sizeBytes, bytes.length)
    t.same(
      [...content.pieces].map((piece) => piece.length),
      [pieceBytes, pieceBytes, pieceBytes, 5],
      `chunks of ${size}`,
    )
    await store.write((tx) => putContents(tx, store, 'a', [content]))
  }
  const other = Buffer.from('other')
  const [first, second, third] = await put(store, 'a', bytes, other, bytes)
  t.equal(first, third)
  t.not(first, second)
  t.same(
    (await rows(store)).map(({ size_bytes, uses }) => ({ size_bytes, uses })),
    [
      { size_bytes: bytes.length, uses: 7 },
      { size_bytes: 5, uses: 1 },
    ],
  )
  t.equal((await pieces(store)).length, 5)
  t.ok(bytes.equals(await read(store, first ?? 0, bytes.length)))
  t.ok(other.equals(await read(store, second ?? 0, 5)))
})

t.test('a content of one large buffer is cut into views of it, not copied', async (t) => {
  const bytes = randomBytes(2 * pieceBytes)
  const { pieces } = makeContent([bytes])
  t.ok([...pieces].every((piece) => piece.buffer === bytes.buffer))
})

t.test('no bytes at all are a content too', async (t) => {
  const store = await openTestStore(t)
  const [id] = await put(store, 'a', Buffer.alloc(0))
  t.equal((await read(store, id ?? 0, 0)).length, 0)
  t.same(await put(store, 'a', Buffer.alloc(0)), [id])
})

t.test('two accounts with the same bytes have each their own', async (t) => {
  const store = await openTestStore(t)
  const bytes = Buffer.from('the same')
  const [ofA] = await put(store, 'a', bytes)
  const [ofB] = await put(store, 'b', bytes)
  t.not(ofA, ofB)
  await store.write((tx) => releaseContents(tx, [ofA ?? 0]))
  await deleteUnused({ store }, never)
  t.ok(bytes.equals(await read(store, ofB ?? 0, bytes.length)))
  await t.rejects(read(store, ofA ?? 0, bytes.length), /is damaged/)
})

t.test('a write that fails stores nothing and uses nothing', async (t) => {
  const store = await openTestStore(t)
  const bytes = randomBytes(pieceBytes + 1)
  await put(store, 'a', bytes)
  const failing = store.write(async (tx) => {
    await putContents(tx, store, 'a', [makeContent([bytes]), makeContent([Buffer.from('new')])])
    throw new Error('refused')
  })
  await t.rejects(failing, /refused/)
  t.same(
    (await rows(store)).map(({ uses }) => uses),
    [1],
  )
  t.equal((await pieces(store)).length, 2)
})

t.test('a content is read piece by piece, and holds up no checkpoint meanwhile', async (t) => {
  const store = await openTestStore(t)
  const bytes = randomBytes(4 * pieceBytes)
  const [id] = await put(store, 'a', bytes)
  const reading = readContent(store.read, { id: id ?? 0, sizeBytes: bytes.length })
  t.equal((await reading.next()).value?.length, pieceBytes)
  await store.checkpoint()
  const busy = await store.write(async (tx) => {
    await tx.deleteFrom('contents').where('uses', '=', -1).execute()
    return tx.selectFrom('contents').select('id').execute()
  })
  t.equal(busy.length, 1)
  let left = 0
  for await (const piece of reading) {
    t.ok(piece.length <= pieceBytes)
    left += piece.length
  }
  t.equal(left, 3 * pieceBytes)
})

t.test(
  'a content that lost a piece, or has one of another size, is not taken for whole',
  async (t) => {
    const store = await openTestStore(t)
    const bytes = randomBytes(3 * pieceBytes)
    const [id = 0] = await put(store, 'a', bytes)
    await store.write((tx) => tx.deleteFrom('content_pieces').where('number', '=', 1).execute())
    await t.rejects(read(store, id, bytes.length), new RegExp(`Content ${id} is damaged`))
    const [other = 0] = await put(store, 'a', Buffer.from('12345'))
    await t.rejects(read(store, other, 4), /is damaged/)
  },
)

t.test(
  'what nothing uses any more is found by an index and deleted; what is used stays',
  aboutSqlite,
  async (t) => {
    const store = await openTestStore(t)
    const [gone = 0, kept = 0] = await put(store, 'a', randomBytes(2 * pieceBytes), randomBytes(10))
    await put(store, 'a', randomBytes(5))
    await put(store, 'a', Buffer.from('used twice'), Buffer.from('used twice'))
    const [twice = 0] = await put(store, 'a', Buffer.from('used twice'))
    await deleteUnused({ store }, never)
    t.equal((await rows(store)).length, 4)
    await store.write((tx) => releaseContents(tx, [gone, twice, twice]))
    await deleteUnused({ store }, never)
    const left = await rows(store)
    t.notOk(left.some(({ id }) => id === gone))
    t.same(left.find(({ id }) => id === kept)?.uses, 1)
    t.same(left.find(({ id }) => id === twice)?.uses, 1)
    t.notOk((await pieces(store)).some(({ content_id }) => content_id === gone))

    const { sql } = await import('kysely')
    const query = store.read
      .selectFrom('contents')
      .select('id')
      .where(sql<boolean>`uses = 0`)
      .orderBy('id')
      .limit(1)
    t.match(await queryPlan(store.read, query), [/USING COVERING INDEX contents_unused/])
  },
)

t.test('what was released and is put again before it is deleted is whole', async (t) => {
  const store = await openTestStore(t)
  const bytes = randomBytes(2 * pieceBytes)
  const [id = 0] = await put(store, 'a', bytes)
  await store.write((tx) => releaseContents(tx, [id]))
  t.same(await put(store, 'a', bytes), [id])
  await deleteUnused({ store }, never)
  t.ok(bytes.equals(await read(store, id, bytes.length)))
})
