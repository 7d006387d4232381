// Thorough, turn 4: installs releases.
// Real processes: a disk that is nearly full while one release takes another's place.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installedRelease, killAtStep, soon } from '../support/installed-release.js'
import { makeTree } from '../support/release-tree.js'

t.setTimeout(900_000)

const skip = process.getuid?.() === 0 ? false : 'mounting a small file system needs root'

t.test(
  'a disk that is too full is told before the stop, and gives no release up',
  { skip },
  async (t) => {
    const { install, dir, dataDir, mail } = await installedRelease(t, { diskMiB: 600 })
    const filler = join(dataDir, 'filler')
    const fill = () =>
      execFileSync('fallocate', ['--length', `${sizeLeaving(dataDir, 150)}`, filler])
    const pid = () => readFileSync(join(dir, 'pid'), 'utf8')
    const next = makeTree(dir, { version: '0.2.0', migrations: 1 })

    const before = pid()
    fill()
    // Of the same schema, so that no copy of the database is made.
    const refused = await install.upgrade([makeTree(dir, { version: '0.1.1' }), '--yes'])
    t.equal(refused.status, 1)
    t.match(refused.stderr, /has \d+ MiB left, and 205 are wanted for mail: make room first/)
    t.equal(pid(), before, 'nothing was stopped')
    rmSync(filler)

    await mail.during(async () => {
      // Others fill the disk, and the upgrade is killed: the new release is held, and the disk is no reason against it.
      const env = killAtStep(dir, 'start')
      t.equal((await install.upgrade([next, '--yes'], { env })).signal, 'SIGKILL')
      const status = async () =>
        (await install.run(['status', '--data', dataDir, '--json'], { release: '0.2.0+test' }))
          .stdout
      t.match(JSON.parse(await status()), {
        running: false,
        troubles: [
          {
            burning: true,
            text: "The upgrade from 0.1.0+test to 0.2.0+test was broken off at the step 'start'",
            fix: "'posthorn upgrade' finishes it, or goes back to the release before",
          },
        ],
      })
      fill()
      await install.manage('start')
      while (existsSync(join(dataDir, 'upgrade.hold'))) await soon()
      t.match(install.log(), /The upgrade from 0\.1\.0\+test to 0\.2\.0\+test was broken off/)
      const finished = await install.upgrade(['--yes'])
      t.equal(finished.status, 0, finished.stderr)
    })
    t.match(await install.appliance(), { release: '0.2.0+test' })
    await mail.arrived(t)
  },
)

/** How large a file has to be so that so much room is left. */
function sizeLeaving(dir: string, leftMiB: number): number {
  const [, free = ''] = execFileSync('df', ['--output=avail', '-B1', dir], {
    encoding: 'utf8',
  }).split('\n')
  return Number(free) - leftMiB * 1_048_576
}
