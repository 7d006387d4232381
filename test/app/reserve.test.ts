import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { giveBackReserve, type ReserveDeps, reserveChore } from '../../src/app/reserve.js'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { diskRoom } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { aboutSqlite } from '../support/postgres.js'
import { directTo, startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

const MiB = 1_048_576

function rig(t: Test) {
  const clock = new FakeClock()
  const dataDir = makeTempDir(t)
  const backlog = joinBacklog(makeBacklogMemory())
  const disk = { totalBytes: 32 * MiB, freeBytes: 20 * MiB }
  const ran: string[] = []
  const runNow: ReserveDeps['runNow'] = (name) => {
    ran.push(name)
    const ended = Promise.resolve({} as never)
    return { kind: 'started', behind: undefined, ended }
  }
  const roomOf = async () => disk
  const chore = reserveChore({ dataDir, clock, log: silentLog, backlog, runNow, roomOf })
  const file = join(dataDir, 'posthorn.reserve')
  const look = async (freeBytes: number) => {
    disk.freeBytes = freeBytes
    await chore.run(new AbortController().signal)
    await setTimeout()
    return [existsSync(file) ? statSync(file).size : 0, backlog.outOfRoom]
  }
  return { clock, dataDir, disk, file, look, ran }
}

t.test('a reserve is kept, given back on a full disk, and mail waits for room', async (t) => {
  const { clock, look, ran } = rig(t)
  t.same(await look(7 * MiB), [0, false], 'it takes no more than half of what is free')
  t.same(await look(8 * MiB), [4 * MiB, false])
  t.same(await look(2 * MiB), [4 * MiB, false])
  t.same(ran, [])
  t.same(await look(2 * MiB - 1), [4 * MiB, true], 'mail is refused first')
  t.same(ran, ['retention', 'optimize'], 'what may go goes at once')
  t.same(await look(4 * MiB - 1), [4 * MiB, true], 'mail does not come and go')
  t.same(await look(MiB / 2 - 1), [0, true], 'then there is room for the rest')
  t.same(await look(8 * MiB - 1), [0, true])
  t.equal(ran.length, 2, 'but not with each look')
  await clock.advance(600_000)
  await look(MiB)
  t.equal(ran.length, 4)
  t.same(await look(8 * MiB), [4 * MiB, false], 'mail is taken again')
})

t.test('a reserve that was broken off, or that a small disk had, is made anew', async (t) => {
  const { dataDir, disk, file, look } = rig(t)
  writeFileSync(file, 'cut off')
  t.same(await look(20 * MiB), [4 * MiB, false])
  disk.totalBytes = 2 ** 40
  t.same(await look(2 ** 39), [160 * MiB, false], 'never more than that')
  t.ok(giveBackReserve(dataDir))
  t.notOk(giveBackReserve(dataDir), 'there is none')
})

// Mail lies on the server's disk otherwise, and there is no reserve.
t.test(
  'on a disk that another program fills, retention begins and mail is refused',
  aboutSqlite,
  async (t) => {
    const dataDir = join(makeTempDir(t), 'disk')
    mkdirSync(dataDir)
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dataDir])
    if (mount.status !== 0) return t.comment('this system mounts no tmpfs for tests: skipped')
    t.teardown(() => spawnSync('umount', ['-l', dataDir]))
    const mx = await fakeMx(t)
    const posthorn = await startPosthorn(t, { dataDir, ...directTo(mx) })
    const mail = { from: 'a@sender.test', to: 'b@example.test', subject: 's', html: '<p>x</p>' }
    const status = async () => {
      const { status, json } = await posthorn.send(mail)
      return status === 200 ? 'taken' : json.error
    }
    const until = async (isSo: () => Promise<boolean>) => {
      for (let n = 0; n < 300 && !(await isSo()); n++) await setTimeout(100)
      t.ok(await isSo())
    }
    const file = join(dataDir, 'posthorn.reserve')
    await until(async () => existsSync(file))
    t.equal(await status(), 'taken')
    const { freeBytes } = await diskRoom(dataDir)
    const filler = join(dataDir, 'filler')
    spawnSync('dd', [
      'if=/dev/zero',
      `of=${filler}`,
      'bs=64k',
      `count=${Math.ceil(freeBytes / 65_536) + 9}`,
    ])
    t.equal((await diskRoom(dataDir)).freeBytes, 0, 'nothing is left')
    await until(async () => !existsSync(file))
    await until(async () => (await status()) === 'The disk is full; try again later')
    const ready = await fetch(`${posthorn.url}/readyz`)
    t.match(await ready.json(), { reasons: [{ what: 'room', says: /^No mail is taken until / }] })
    const runs = posthorn.store.read
      .selectFrom('job_runs')
      .selectAll()
      .where('name', '=', 'retention')
    await until(async () => (await runs.execute()).some(({ result }) => result === 'done'))
    rmSync(filler)
    await until(async () => (await status()) === 'taken')
  },
)
