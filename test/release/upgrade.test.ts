// Thorough, turn 2: installs releases, and is killed at every step.
// Real processes: releases made of these sources, a stand-in for systemd, mail to a real receiver.
import t from 'tap'
import { heldRelease, steps } from '../../src/release/index.js'
import { installedRelease, killAtStep } from '../support/installed-release.js'
import { makeTree } from '../support/release-tree.js'

t.setTimeout(900_000)

t.test('an upgrade with mail in flight loses none and sends none twice', async (t) => {
  const { install, dir, mail } = await installedRelease(t)
  const next = makeTree(dir, { version: '0.2.0', migrations: 1 })
  const upgraded = await mail.during(() => install.upgrade([next, '--yes', '--json']))
  t.equal(upgraded.status, 0, upgraded.stderr)
  t.match(JSON.parse(upgraded.stdout), {
    result: 'upgraded',
    from: '0.1.0+test',
    to: '0.2.0+test',
    backup: /backups\/posthorn-.*\.tar\.gz$/,
  })
  t.match(await install.appliance(), { release: '0.2.0+test', version: '0.2.0' })
  await mail.arrived(t)
})

t.test('kill -9 at every step: run again it is finished, with all mail once', async (t) => {
  const { install, dir, dataDir, mail } = await installedRelease(t)
  let from = '0.1.0'
  for (const [i, step] of steps.entries()) {
    const version = `0.${i + 2}.0`
    const tree = makeTree(dir, { version, migrations: i + 1 })
    await mail.during(async () => {
      const killed = await install.upgrade([tree, '--yes'], { env: killAtStep(dir, step) })
      t.equal(killed.signal, 'SIGKILL', `${step}: ${killed.stderr}`)
      if (step === 'copy') t.equal(heldRelease(dataDir), `${version}+test`, 'no command writes')
      if (step === 'judge') {
        const told = await install.upgrade([], { release: `${from}+test` })
        t.match(told.stderr, `An upgrade from ${from}+test to ${version}+test was broken off`)
        t.equal(told.status, 1, 'it asks for --yes')
      }
      const again = await install.upgrade(['--yes'], { release: `${from}+test` })
      t.equal(again.status, 0, `${step}: ${again.stderr}`)
    })
    t.match(await install.appliance(), { release: `${version}+test` }, step)
    from = version
  }
  await mail.arrived(t)
})
