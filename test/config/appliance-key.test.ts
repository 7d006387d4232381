import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createApplianceKeyFile, openApplianceKey } from '../../src/config/index.js'

t.test('a key is there whole or not at all, whatever a killed start has left', async (t) => {
  const file = join(t.testdir(), 'appliance.key')
  writeFileSync(`${file}.new`, '')
  createApplianceKeyFile(file)
  openApplianceKey(file)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.throws(() => statSync(`${file}.new`), { code: 'ENOENT' })
  const text = readFileSync(file, 'utf8')
  createApplianceKeyFile(file)
  t.equal(readFileSync(file, 'utf8'), text, 'the one that is there stays')
})

t.test('a key cannot be made in a folder that is not there', async (t) => {
  const file = join(t.testdir(), 'nowhere', 'appliance.key')
  t.throws(() => createApplianceKeyFile(file), /Cannot create the appliance key .*ENOENT/)
})
