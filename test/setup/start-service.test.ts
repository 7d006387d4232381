import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { preflight, startService } from '../../src/setup/index.js'
import { fakeResolver } from '../support/resolver.js'
import { makeTempDir } from '../support/store.js'

/** A `systemctl` on PATH that notes what it is asked and answers as it is told. */
function standIn(t: Test, script: string) {
  const folder = makeTempDir(t)
  const notes = join(folder, 'asked')
  writeFileSync(notes, '')
  writeFileSync(join(folder, 'systemctl'), `#!/bin/sh\necho "$@" >> ${notes}\n${script}\n`)
  chmodSync(join(folder, 'systemctl'), 0o755)
  const before = process.env.PATH
  process.env.PATH = `${folder}:${before}`
  t.teardown(() => {
    process.env.PATH = before
  })
  return { asked: () => readFileSync(notes, 'utf8').trim().split('\n') }
}

const wanted = {
  isWanted: true,
  isSystem: true,
  hasSystemd: true,
  isChanged: true,
  takenPorts: [],
  byHand: 'posthorn serve',
}
const isActive = 'is-active --quiet posthorn'

t.test('a service that does not run is enabled and started', async (t) => {
  const { asked } = standIn(t, 'test "$1" != is-active')
  t.same(startService(wanted), { state: 'running', isNew: true })
  t.same(asked(), [isActive, 'daemon-reload', 'enable --now posthorn'])
})

t.test('one that runs begins anew for new settings alone', async (t) => {
  const { asked } = standIn(t, 'exit 0')
  t.same(startService({ ...wanted, isChanged: false }), { state: 'running', isNew: false })
  t.same(asked(), [isActive])
  t.same(startService(wanted), { state: 'running', isNew: true })
  t.same(asked().slice(1), [isActive, 'restart posthorn'])
})

t.test('what systemctl says is told when the start fails', async (t) => {
  standIn(t, 'test "$1" = daemon-reload || { echo "Job for posthorn.service failed" >&2; exit 1; }')
  t.throws(() => startService(wanted), {
    message: 'systemctl enable --now posthorn failed: Job for posthorn.service failed',
  })
})

t.test(
  'without systemd, or where something is in the way, the command is told instead',
  async (t) => {
    const { asked } = standIn(t, 'exit 0')
    for (const [given, why, command] of [
      [{ isWanted: false }, '--no-start', 'systemctl enable --now posthorn'],
      [{ hasSystemd: false }, 'systemd does not run here', 'posthorn serve'],
      [{ isSystem: false }, 'the directories are not those of the service', 'posthorn serve'],
      [{ takenPorts: ['25'] }, 'another program has port 25', 'systemctl enable --now posthorn'],
    ] as const) {
      t.same(startService({ ...wanted, ...given }), { state: 'not started', why, command })
    }
    t.same(asked(), [''], 'nothing was run')
  },
)

t.test('before anything is made, a port that another program has is found', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '0.0.0.0', resolve))
  t.teardown(() => new Promise((resolve) => other.close(resolve)))
  const address = other.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const resolver = fakeResolver({ '*': { fail: 'SERVFAIL' } })
  const config = loadConfig({ env: { POSTHORN_DOCTOR_TIMEOUT: '100ms' } })
  const deps = { config, clock: systemClock, resolver, random: () => 0 }
  t.match(await preflight(deps, [port]), [
    { check: 'dns', state: 'fail' },
    { check: 'port', subject: String(port), state: 'fail', fix: /ss -ltnp/ },
  ])
})
