import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { openSystemdNotifier } from '../../src/app/notify.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { missing } from '../support/tools.js'

const skip = missing('python3', 'systemd-notify')

// Node cannot open a unix datagram socket, so Python plays systemd.
const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listening', flush=True)
while True:
    print(s.recv(4096).decode(), flush=True)
`

/** A socket like systemd's; `next` gives the next message. */
async function fakeSystemd(t: Test) {
  // Not t.testdir(): the path of a unix socket has at most 107 characters.
  const folder = mkdtempSync(join(tmpdir(), 'notify-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'sock')
  const python: ChildProcess = spawn('python3', ['-c', receiver, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => python.kill())
  if (python.stdout === null) throw new Error('no stdout')
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]()
  async function next(): Promise<string> {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error('the receiver has ended')
      // systemd-notify waits for its message to arrive by a second one of its own.
      if (value !== 'BARRIER=1') return value
    }
  }
  t.equal(await next(), 'listening')
  const env = { PATH: process.env.PATH, NOTIFY_SOCKET: path, SECRET: 'stays here' }
  return { env, next }
}

t.test(
  'systemd hears what the start waits for, ready, pings while healthy, and the end',
  { skip },
  async (t) => {
    const { env, next } = await fakeSystemd(t)
    const clock = new FakeClock()
    const errors: string[] = []
    const log = { ...silentLog, error: (_: object, message: string) => errors.push(message) }
    const watched = { ...env, WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(process.pid) }
    const notifier = openSystemdNotifier(watched, log, clock)
    t.teardown(() => notifier.close())

    notifier.status('The disk is full: waiting')
    t.equal(await next(), 'STATUS=The disk is full: waiting')
    notifier.extendStart(60_000)
    t.equal(await next(), 'EXTEND_TIMEOUT_USEC=60000000')
    notifier.ready()
    t.equal(await next(), 'READY=1')
    let healthy = true
    notifier.startWatchdog(() => healthy)
    t.equal(await next(), 'WATCHDOG=1', 'at once')
    await clock.advance(30_000)
    t.equal(await next(), 'WATCHDOG=1', 'after half of WatchdogSec')

    healthy = false
    await clock.advance(90_000)
    t.equal(errors.length, 1, 'the operator is told once')
    notifier.stopping()
    t.equal(await next(), 'STOPPING=1', 'no ping was sent while unhealthy')
    await clock.advance(30_000)
    t.equal(await next(), 'WATCHDOG=1', 'while draining the event loop alone counts')
  },
)

function isMessenger(pid: string): boolean {
  try {
    const ours = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[1]
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    return ours === String(process.pid) && command.includes('systemd-notify')
  } catch {
    return false // ended meanwhile
  }
}

t.test('a messenger that was killed is replaced', { skip }, async (t) => {
  const { env, next } = await fakeSystemd(t)
  const notifier = openSystemdNotifier(env, silentLog, new FakeClock())
  t.teardown(() => notifier.close())
  notifier.ready()
  t.equal(await next(), 'READY=1')
  const pids = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isMessenger(pid))
  t.equal(pids.length, 1)
  process.kill(Number(pids[0]))
  // Gone from /proc only when our own event loop has seen it end.
  while (existsSync(`/proc/${pids[0]}`)) await new Promise((resolve) => setImmediate(resolve))
  notifier.stopping()
  t.equal(await next(), 'STOPPING=1')
})

t.test('without a watchdog, or with one for another process, nothing is pinged', async (t) => {
  for (const env of [{}, { WATCHDOG_USEC: '0' }, { WATCHDOG_USEC: '1000', WATCHDOG_PID: '1' }]) {
    const notifier = openSystemdNotifier({ ...env, NOTIFY_SOCKET: '/nowhere' }, silentLog)
    notifier.startWatchdog(() => t.fail('asked'))
    notifier.close()
  }
})

t.test('outside systemd nothing happens', async (t) => {
  const notifier = openSystemdNotifier({ WATCHDOG_USEC: '1000' }, silentLog)
  notifier.ready()
  notifier.startWatchdog(() => t.fail('asked'))
  notifier.stopping()
  notifier.close()
})
