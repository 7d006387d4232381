import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { startWhenRoom } from '../../src/app/room.js'
import { ApiError, OperatorError } from '../../src/errors/index.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { cliEntry } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(120_000)

const coded = (code: string) => Object.assign(new Error(code), { code })

function rig(t: Test) {
  const clock = new FakeClock()
  const told: string[] = []
  const warned: string[] = []
  const stopping = new AbortController()
  const log = { ...silentLog, warn: (_: object, message: string) => warned.push(message) }
  const notifier = {
    status: (text: string) => told.push(text),
    extendStart: (ms: number) => told.push(`extend ${ms}`),
  }
  const options = { dataDir: makeTempDir(t), log, clock, notifier, signal: stopping.signal }
  return { clock, told, warned, stopping, options }
}

t.test('a start on a full disk is tried again, and systemd goes on to wait', async (t) => {
  const { clock, told, warned, options } = rig(t)
  const unwritable = new ApiError('service_unavailable', 'The database cannot be written just now')
  unwritable.cause = coded('SQLITE_FULL')
  // As they reach the start: SQLite's own, the system's, and through a thread.
  const failures: Error[] = [
    new OperatorError('The database cannot be brought up to date', { cause: coded('SQLITE_FULL') }),
    coded('ENOSPC'),
    new OperatorError('The thread', { cause: unwritable }),
  ]
  let tries = 0
  const start = async () => {
    const failure = failures[tries++]
    if (failure !== undefined) throw failure
    return 'up'
  }
  const started = startWhenRoom(start, options)
  const full = `The disk of ${options.dataDir} is full: Posthorn starts when there is room`
  for (let round = 1; round <= failures.length; round++) {
    while (told.length < 2 * round) await new Promise((resolve) => setImmediate(resolve))
    t.same(told.slice(-2), [full, 'extend 60000'])
    await clock.advance(5_000)
  }
  t.equal(await started, 'up')
  t.equal(told.at(-1), 'Running')
  t.same(warned, [full], 'the log has it once')
})

t.test('a start on a full disk takes what was reserved for it', async (t) => {
  const { told, warned, options } = rig(t)
  const reserve = join(options.dataDir, 'posthorn.reserve')
  writeFileSync(reserve, 'room')
  const start = async () => {
    if (existsSync(reserve)) throw coded('ENOSPC')
    return 'up'
  }
  t.equal(await startWhenRoom(start, options), 'up')
  t.same(told, ['Running'], 'nothing is waited for')
  t.same(warned, ['The disk is full: what was reserved is given back'])
})

t.test('another failure is no matter of room, and a stop ends the waiting', async (t) => {
  const { told, stopping, options } = rig(t)
  for (const code of ['EADDRINUSE', 'SQLITE_IOERR_READ']) {
    await t.rejects(
      startWhenRoom(() => Promise.reject(coded(code)), options),
      { code },
    )
  }
  const waiting = startWhenRoom(() => Promise.reject(coded('ENOSPC')), options)
  while (told.length === 0) await new Promise((resolve) => setImmediate(resolve))
  stopping.abort()
  t.equal(await waiting, undefined)
})

// A disk of its own, in a name space where any user may mount one.
const skip =
  spawnSync('unshare', ['-rm', 'true']).status !== 0 &&
  'no name spaces for users here (unshare -rm)'

t.test('serve on a disk that is really full comes up once there is room', { skip }, async (t) => {
  const folder = makeTempDir(t)
  const script = `
    set -e
    mkdir "$1/disk" && mount -t tmpfs -o size=4m none "$1/disk"
    "$2" "$3" init --sandbox --json --data "$1/disk/data" >/dev/null
    cat /dev/zero >"$1/disk/fill" 2>/dev/null || :
    { while [ ! -e "$1/room" ]; do sleep 0.1; done; rm "$1/disk/fill"; } &
    exec "$2" "$3" serve --json --data "$1/disk/data"`
  const args = ['-rm', 'sh', '-c', script, '-', folder, process.execPath, cliEntry]
  const ports = Object.fromEntries(
    ['HTTP_PRIVATE_PORT', 'HTTP_PUBLIC_PORT', 'SANDBOX_SMTP_PORT', 'INBOUND_PORT'].map((name) => [
      `POSTHORN_${name}`,
      '0',
    ]),
  )
  const child = spawn('unshare', args, {
    env: { ...process.env, POSTHORN_LOG_FORMAT: 'json', ...ports },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  for await (const line of createInterface({ input: child.stderr })) {
    t.match(line, 'is full: Posthorn starts when there is room')
    break
  }
  writeFileSync(join(folder, 'room'), '')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { privateUrl } = JSON.parse(line) as { privateUrl: string }
  t.equal((await fetch(privateUrl)).status, 200)
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
})
