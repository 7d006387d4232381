import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { openNotices } from '../../src/notices/index.js'
import { diskRoom } from '../../src/store/index.js'
import { day, type MailLog, openMailLog } from '../support/mail-log.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

const ages = { bodies: 30 * day, bodiesAtLeast: day, diskShare: 800_000 }

/** Mails with bodies of a megabyte, a day after the other; the last waits. */
async function fill(log: MailLog, mails: number) {
  const ids: string[] = []
  for (let n = 0; n < mails; n++) {
    const html = `${log.clock.now()}`.padEnd(1_000_000, 'x')
    ids.push(...(await log.accept([{ html }])))
    await log.deliver()
    await log.clock.advance(day / 4)
  }
  return ids
}

const withBody = async ({ store }: MailLog) =>
  (
    await store.read
      .selectFrom('emails')
      .select('id')
      .where('body_id', 'is not', null)
      .orderBy('id')
      .execute()
  ).map(({ id }) => id)

async function smallDisk(t: Test): Promise<string | undefined> {
  const dir = join(makeTempDir(t), 'disk')
  mkdirSync(dir)
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dir])
  if (mount.status !== 0) return undefined
  t.teardown(() => spawnSync('umount', ['-l', dir]))
  return dir
}

t.test(
  'above its share of a small disk the oldest bodies go, and mail is taken in',
  aboutSqlite,
  async (t) => {
    const dataDir = await smallDisk(t)
    if (dataDir === undefined) {
      t.comment('this system mounts no tmpfs for tests: skipped')
      return
    }
    const log = await openMailLog(t, { plan: 'Unlimited', dataDir })
    const { retention, store } = log
    const more = { readDisk: diskRoom, ages: { ...retention.ages, ...ages } }
    const [waits = ''] = await log.accept([
      { html: 'waits'.padEnd(1_000_000, 'w'), scheduledAt: log.clock.now() + 80 * day },
    ])
    const ids = await fill(log, 20)
    const { figures } = await log.run(more)
    t.equal(figures.bodies, 0, 'there is room')
    for (let n = 0; n < 60; n++) {
      ids.push(...(await fill(log, 1)))
      if (n % 4 === 0) {
        await store.checkpoint()
        await log.run(more)
      }
    }
    await log.run(more)
    const left = await withBody(log)
    t.ok(left.includes(waits), 'never of mail that waits')
    const young = left.filter((id) => id !== waits)
    t.same(young, ids.slice(-young.length), 'the oldest went')
    t.ok(young.length > 5 && young.length < 60)
    const { totalBytes, freeBytes } = await diskRoom(dataDir)
    t.ok(freeBytes > totalBytes / 20, 'the disk never was full')
    const [told] = await openNotices(store.read)
    t.match(told, { kind: 'retention', severity: 'daily', text: /deleted early/ })
  },
)

t.test('nothing young goes, and the operator hears before mail is refused', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { retention, store, clock } = log
  const ids = await fill(log, 3)
  const disk = { totalBytes: 1_000_000, freeBytes: 10_000 }
  const more = { readDisk: async () => disk, ages: { ...retention.ages, ...ages } }
  await log.run(more)
  t.same(await withBody(log), ids, 'younger than a day')
  t.match(await openNotices(store.read), [
    { severity: 'burning', text: /mail is refused when it is full/ },
  ])
  disk.freeBytes = 900_000
  await log.run(more)
  t.same(await openNotices(store.read), [], 'there is room again')
  await clock.advance(day)
})

t.test('room is made from whoever stores most, until others store as much', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { retention, store, clock } = log
  const { id: small } = await createAccount({ store, clock }, 'Small')
  const body = (name: string) => name.padEnd(100_000, 'x')
  // The small account's mails are the oldest of all.
  const kept = await log.accept([{ html: body('small 1') }, { html: body('small 2') }], small)
  const ofLarge: string[] = []
  for (let n = 0; n < 60; n++) ofLarge.push(...(await log.accept([{ html: body(`large ${n}`) }])))
  await log.deliver()
  await log.countBodies()
  await clock.advance(3 * day)
  // One more mail, as the last that was counted stays.
  await log.accept([{ html: 'last' }])

  let asked = 0
  // Full when it is asked for the first times, and then no more.
  const readDisk = async () => ({
    totalBytes: 1_000_000,
    freeBytes: asked++ < 2 ? 100_000 : 900_000,
  })
  await log.run({ readDisk, ages: { ...retention.ages, ...ages } })
  const some = await withBody(log)
  t.ok(
    kept.every((id) => some.includes(id)),
    'nothing of who stores little',
  )
  const left = ofLarge.filter((id) => some.includes(id))
  t.same(left, ofLarge.slice(-left.length), 'the oldest of who stores much')
  t.equal(left.length, 40, 'no more than had to')

  const full = async () => ({ totalBytes: 1_000_000_000, freeBytes: 10_000_000 })
  await log.run({ readDisk: full, ages: { ...retention.ages, ...ages } })
  const none = await withBody(log)
  t.notOk(
    kept.some((id) => none.includes(id)),
    'those too, where nobody stores more',
  )
})

t.test('what burned does so no more once there is room, though bodies went early', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { retention, store } = log
  await fill(log, 12)
  const disk = { totalBytes: 1_000_000_000, freeBytes: 1_000_000 }
  const more = { readDisk: async () => disk, ages: { ...retention.ages, ...ages } }
  await log.run(more)
  t.ok((await withBody(log)).length < 12, 'those that are old enough went')
  t.match(await openNotices(store.read), [{ severity: 'burning', text: /is \d\d% full, above/ }])
  disk.freeBytes = 900_000_000
  await log.run(more)
  const [told] = await openNotices(store.read)
  t.match(told, { severity: 'daily', text: /was over .* were deleted early/ })
  t.notMatch(told?.text, /full, above/)
})
