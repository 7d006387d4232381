// Thorough, turn 4: installs releases that do not work.
// Real processes: releases that do not work, and what is left of them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tryLockFile } from '../../src/store/index.js'
import { installedRelease, killAt, killAtStep, soon } from '../support/installed-release.js'
import { makeTree } from '../support/release-tree.js'

t.setTimeout(900_000)

const neverReady = {
  'app/health.js': (text: string) =>
    text.replace(
      "if (phase === 'stopping')",
      "if (phase === 'held') return [{ what: 'database', says: 'Never ready' }];$&",
    ),
}

t.test(
  'a release that does not work is undone: the old one runs, on the database as it was',
  async (t) => {
    const { install, dir, dataDir, mail, tablesOfTomorrow } = await installedRelease(t)
    const faults = {
      'crashes at its start': {
        broken: { 'cli/serve.js': (text: string) => `throw new Error('Broken build')\n${text}` },
        why: /0\.2\.0\+test does not become healthy: its process ends/,
      },
      'lacks a thread': {
        broken: { 'threads/courier.js': () => `throw new Error('No such module')\n` },
        why: /its process ends/,
      },
      'never becomes ready': { broken: neverReady, why: /within 30 s: Never ready/ },
      'fails its migration': {
        broken: {
          'store/migrate.js': (text: string) =>
            text.replace(
              "'9001-tomorrow': { up: async (db) => {",
              "$& throw new Error('No table');",
            ),
        },
        why: /cannot be brought up to date: No table/,
      },
    }
    for (const [i, [what, { broken, why }]] of Object.entries(faults).entries()) {
      const tree = makeTree(join(dir, String(i)), { version: '0.2.0', migrations: 1, broken })
      const timeout = what === 'never becomes ready' ? '30' : '90'
      const undone = await mail.during(() => install.upgrade([tree, '--yes', '--timeout', timeout]))
      t.equal(undone.status, 1, what)
      t.match(undone.stderr, why, what)
      t.match(undone.stderr, /0\.1\.0\+test runs again, with its database as it was/)
      t.match(await install.appliance(), { release: '0.1.0+test' }, what)
      t.same(tablesOfTomorrow(), [], `${what}: nothing of its schema is left`)
      for (const left of ['upgrade.hold', 'posthorn.db.before-upgrade']) {
        t.notOk(existsSync(join(dataDir, left)), left)
      }
      t.notOk(existsSync(join(install.prefix, 'upgrade.json')))
    }
    await mail.arrived(t)
  },
)

t.test(
  'kill -9 on the way back: run again it is back, whatever was started meanwhile',
  async (t) => {
    const { install, dir, mail, tablesOfTomorrow } = await installedRelease(t)
    const broken = makeTree(dir, { version: '0.2.0', migrations: 1, broken: neverReady })
    const moments = {
      'before anything': killAtStep(dir, 'judge', 'back'),
      'when the database is back': killAt(dir, 'posthorn.db'),
      'when the old release is in use': killAt(dir, 'current'),
    }
    for (const [moment, env] of Object.entries(moments)) {
      await mail.during(async () => {
        // To 'current' it is linked on the way there too.
        const there = moment.startsWith('when the old') ? killAtStep(dir, 'judge') : env
        const args = [broken, '--yes', '--timeout', '5']
        t.equal((await install.upgrade(args, { env: there })).signal, 'SIGKILL', moment)
        if (there !== env) {
          const args = ['--back', '--yes']
          const again = await install.upgrade(args, {
            release: '0.1.0+test',
            env: killAt(dir, 'current'),
          })
          t.equal(again.signal, 'SIGKILL', moment)
        }
        // As after a power cut: systemd starts what `current` is.
        await install.manage('start')
        while ((await install.appliance()) === undefined) await soon()
        const again = await install.upgrade(['--yes'], { release: '0.1.0+test' })
        t.match(again.stderr, /0\.1\.0\+test to 0\.2\.0\+test was broken off \(back/, moment)
        t.equal(again.status, 0, again.stderr)
      })
      t.match(await install.appliance(), { release: '0.1.0+test' }, moment)
      t.same(tablesOfTomorrow(), [], moment)
    }
    await mail.arrived(t)
  },
)

t.test(
  'while an upgrade looks at it a release takes and sends nothing; alone it begins',
  async (t) => {
    const { install, dir, dataDir, mail, mx, apiKey } = await installedRelease(t)
    const next = makeTree(dir, { version: '0.2.0', migrations: 1 })
    await mail.during(async () => {})
    await mail.arrived(t)
    const killed = await install.upgrade([next, '--yes'], { env: killAtStep(dir, 'judge') })
    t.equal(killed.signal, 'SIGKILL')
    const unlock = tryLockFile(join(dataDir, 'upgrade.lock'))
    t.ok(unlock, 'in the place of the upgrade')
    let api: string | undefined
    while (api === undefined) api = (await install.appliance())?.api
    const before = mx.messages.length
    const send = () =>
      fetch(`${api}/v1/emails/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: 'a@example.test', to: 'b@d.test', subject: 'x', html: 'x' }),
      })
    const refused = await send()
    t.equal(refused.status, 503)
    t.equal(refused.headers.get('retry-after'), '5')
    t.match(await refused.json(), { code: 'service_unavailable', error: /is being upgraded/ })
    const ready = await fetch(`${api}/readyz`)
    t.match([ready.status, await ready.json()], [503, { reasons: [{ what: 'held' }] }])
    t.equal((await fetch(`${api}/healthz`)).status, 200)
    t.equal((await fetch(`${api}/`)).status, 503, 'pages neither')
    t.equal(mx.messages.length, before)
    t.ok(existsSync(join(dataDir, 'upgrade.hold')))

    unlock?.()
    while ((await fetch(`${api}/readyz`)).status !== 200) await soon()
    t.notOk(existsSync(join(dataDir, 'upgrade.hold')), 'nobody upgrades any more: it is healthy')
    t.equal((await send()).status, 200)
    await mail.during(async () => {})
    const finished = await install.upgrade(['--back', '--yes'], { release: '0.1.0+test' })
    t.equal(finished.status, 0, 'what was released is not undone')
    t.match(await install.appliance(), { release: '0.2.0+test' })
    t.match(finished.stdout, /0\.2\.0\+test runs/)
    await mail.arrived(t)
  },
)
