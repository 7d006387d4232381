import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hold } from '../../src/release/hold.js'
import type { Journal } from '../../src/release/journal.js'
import { goBack, type SwitchDeps } from '../../src/release/switch.js'
import { makeTempDir } from '../support/store.js'

t.test('the way back waits for a migration that outlived its upgrade', async (t) => {
  const [prefix, dataDir] = [makeTempDir(t), makeTempDir(t)]
  hold(dataDir, '0.2.0')
  const ended = join(dataDir, 'ended')
  const args = [join(prefix, '.migrating'), 'sh', '-c', `echo began; sleep 1; touch ${ended}`]
  const migrating = spawn('flock', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  await new Promise((resolve) => migrating.stdout.once('data', resolve))
  const seen = new Error('The database was put back')
  const layout = {
    prefix,
    current: () => '0.2.0',
    switchTo() {
      t.ok(existsSync(ended), 'the migration is over')
      throw seen
    },
  }
  const deps = {
    layout,
    isServed: () => false,
    tell() {},
    asOwner: <T>(work: () => T) => work(),
    service: { start: async () => {}, stop: async () => {}, isActive: async () => false },
  }
  const journal: Journal = {
    from: '0.1.0',
    to: '0.2.0',
    step: 'migrate',
    direction: 'forward',
    dataDir,
    migrates: true,
    backup: null,
  }
  await t.rejects(goBack(deps as unknown as SwitchDeps, journal, 'asked'), seen)
})
