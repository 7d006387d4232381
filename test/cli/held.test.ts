import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { hold, liftHold } from '../../src/release/hold.js'
import { cliEntry, initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.test('while an upgrade holds the appliance a command reads and does not write', async (t) => {
  const dataDir = join(makeTempDir(t), 'data')
  initSandbox(dataDir)
  const posthorn = (...args: string[]) =>
    spawnSync(process.execPath, [cliEntry, ...args, '--data', dataDir], { encoding: 'utf8' })
  const accounts = () => JSON.parse(posthorn('account', 'list', '--json').stdout).length
  const before = accounts()
  hold(dataDir, '0.2.0+node24')
  t.match(posthorn('account', 'create', 'Lost'), {
    status: 1,
    stderr: /An upgrade to 0\.2\.0\+node24 is under way.*nothing was changed/,
  })
  t.equal(accounts(), before)
  liftHold(dataDir)
  t.match(posthorn('account', 'create', 'Kept'), { status: 0 })
  t.equal(accounts(), before + 1)
})
