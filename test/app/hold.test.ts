import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openHold } from '../../src/app/hold.js'
import type { Reason } from '../../src/doctor/index.js'
import { silentLog } from '../../src/log/index.js'
import { hold } from '../../src/release/hold.js'
import { ownName, upgradeLock } from '../../src/release/index.js'
import { tryLockFile } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir } from '../support/store.js'

/** A start that a killed upgrade holds, and what it says. */
function heldStart(t: Parameters<typeof makeTempDir>[0], reasons: Reason[]) {
  const dataDir = makeTempDir(t)
  hold(dataDir, ownName())
  const said: string[] = []
  const note = (_: object, message: string) => said.push(message)
  const clock = new FakeClock()
  const open = () => openHold(dataDir, clock, { ...silentLog, warn: note, error: note })
  const isHeld = () => existsSync(join(dataDir, 'upgrade.hold'))
  return { dataDir, said, clock, open, isHeld, reasons: async () => reasons }
}

t.test('a full disk, which no release can help, does not keep a start held', async (t) => {
  const { said, clock, open, isHeld, reasons } = heldStart(t, [
    { what: 'held', says: 'An upgrade is under way' },
    { what: 'disk', says: '100 MiB are left' },
    { what: 'queue', says: 'The queue is full' },
  ])
  const over = open().over(reasons, () => {})
  for (let look = 0; look < 8 && isHeld(); look++) await clock.advance(250)
  await clock.advance(250)
  t.notOk(isHeld())
  t.equal(await over, true)
  t.match(said, [/^An upgrade to .* was broken off$/, /it begins$/])
})

t.test(
  'a start that stays held after a killed upgrade says so, with the reason and the way out',
  async (t) => {
    const { dataDir, said, clock, open, isHeld, reasons } = heldStart(t, [
      { what: 'database', says: 'The database cannot be written' },
    ])
    const unlock = tryLockFile(upgradeLock(dataDir))
    const held = open()
    const shown: string[] = []
    const over = held.over(reasons, (why) => shown.push(why))
    const seconds = async (count: number) => {
      for (let look = 0; look < 4 * count; look++) await clock.advance(250)
    }
    await seconds(15)
    t.same(said, [], 'an upgrade is under way')
    unlock?.()
    await seconds(301)
    t.ok(isHeld())
    t.match(said, [/was broken off, and this release takes and sends nothing: The database cannot/])
    t.same(shown, said, 'systemd shows the same')
    held.close()
    t.equal(await over, false)
  },
)
