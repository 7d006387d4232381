// decisions.md and design.md: overload and faults are 503 service_unavailable with Retry-After.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { aboutSqlite, isPostgres } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

t.test('a full queue refuses with 503, and takes mail again when there is room', async (t) => {
  const posthorn = await startPosthorn(t, { env: { POSTHORN_OUTBOUND_MAX_QUEUED: '3' } })
  const scheduled = []
  for (let i = 0; i < 3; i++)
    scheduled.push(await posthorn.send({ ...good, scheduledAt: inAnHour() }))
  for (const answer of [
    await posthorn.send(good),
    await posthorn.call('POST', '/v1/emails/batch', { body: { emails: [good] } }),
  ]) {
    t.match(answer, { status: 503, json: { code: 'service_unavailable', error: String } })
    t.equal(answer.headers.get('retry-after'), '60')
  }
  await posthorn.call('DELETE', `/v1/emails/${scheduled[0]?.json.id}/cancel`)
  const { status, json } = await posthorn.send(good)
  t.equal(status, 200)
  await posthorn.until(json.id, (email) => email.status === 'delivered')
  // What is written is counted when it is on disk, an instant after it can be read.
  await new Promise((resolve) => setTimeout(resolve, 200))
  t.equal((await posthorn.send(good)).status, 200, 'what is delivered makes room')
})

const mayMount = process.getuid?.() === 0 ? false : 'mounting a small file system needs root'
t.test(
  'a full disk: 503, nothing answered is lost, and sending resumes',
  // The disk of a server is that server's.
  isPostgres ? aboutSqlite : { skip: mayMount },
  async (t) => {
    const dataDir = join(makeTempDir(t), 'data')
    mkdirSync(dataDir)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dataDir])
    t.equal(mounted.status, 0, String(mounted.stderr))
    // Teardowns run last to first: the appliance is closed before.
    t.teardown(() => spawnSync('umount', ['-l', dataDir]))
    const posthorn = await startPosthorn(t, { dataDir })
    const before = await posthorn.send({ ...good, scheduledAt: inAnHour() })
    const ballast = join(dataDir, 'ballast')
    let filled = 1024 * 1024
    for (; filled > 1_024; filled /= 2) {
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(filled), { flag: 'a' })
      } catch {
        // Smaller bits fit yet.
      }
    }
    const refused = []
    for (let i = 0; i < 20; i++)
      refused.push(await posthorn.send({ ...good, html: 'x'.repeat(200_000) }))
    const failures = refused.filter((answer) => answer.status !== 200)
    t.ok(failures.length > 0, 'the disk is full')
    for (const answer of failures) {
      t.match(answer, { status: 503, json: { code: 'service_unavailable', error: String } })
      t.ok(Number(answer.headers.get('retry-after')) > 0)
    }
    t.equal((await posthorn.email(before.json.id)).status, 'scheduled', 'reading goes on')
    rmSync(ballast)
    for (const answer of refused.filter(({ status }) => status === 200)) {
      await posthorn.until(answer.json.id, (email) => email.status === 'delivered')
    }
    const after = await posthorn.send(good)
    t.equal(after.status, 200)
    await posthorn.until(after.json.id, (email) => email.status === 'delivered')
    const stored = await posthorn.store.read.selectFrom('emails').select('id').execute()
    const answered = [before, ...refused, after].filter(({ status }) => status === 200)
    t.equal(stored.length, answered.length, 'what was refused left nothing')
  },
)
