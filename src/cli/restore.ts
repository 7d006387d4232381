import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { configFile, restoreScratch } from '../app/files.js'
import { lockDataDir } from '../app/lock.js'
import { restoreBackup } from '../backup/index.js'
import { systemClock } from '../clock/index.js'
import { loadConfig } from '../config/index.js'
import { openingPassphrase, passphraseHelp } from './backup.js'
import { jsonTime, remark, say, sayJson, shownTime, visibleLines } from './output.js'
import { becomeOwner, placeOf } from './place.js'

interface RestoreOptions {
  to?: string
  yes?: boolean
  key?: string
  passphraseFile?: string
}

export function restoreCommand(program: Command): void {
  program
    .command('restore <file>')
    .description('put a backup into a data directory on which no appliance runs')
    .option('--to <dir>', 'the directory (default: the data directory)')
    .option('--yes', 'take the place of the database there; the old files are kept beside it')
    .option('--key <file>', 'the appliance key of a backup that was made without it')
    .option('--passphrase-file <file>', passphraseHelp)
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn restore posthorn-20261122T030000000Z.tar.gz --to /var/lib/posthorn
  $ posthorn queue held                      then: what waited when the backup was made

Everything is checked before it gets its place; if the command is ended before that, run it again. What waited
at the time of the backup may have been sent since: the next start holds it, and nothing of it leaves before
'posthorn queue release'; webhooks go out by 'posthorn webhook replay ID --failed' alone. What came in since
is not there: mail, unsubscribes, bounces.`,
    )
    .action(async (given: string, options: RestoreOptions, command: Command) => {
      const place = placeOf(command)
      const to = resolve(options.to ?? place.dataDir)
      // Before it becomes another user: the file may be root's alone, and is open from then on.
      mkdirSync(to, { recursive: true, mode: 0o700 })
      becomeOwner({ ...place, dataDir: to })
      const unlock = lockDataDir(to)
      try {
        const { manifest, keptIn, etcIn } = await restoreBackup(resolve(given), {
          to,
          scratch: restoreScratch(to),
          replace: options.yes === true,
          keyFile: options.key === undefined ? undefined : resolve(options.key),
          passphrase: () => openingPassphrase(place, options.passphraseFile),
          clock: systemClock,
        })
        const madeAt = Date.parse(manifest.madeAt)
        const programs = manifest.files.some(({ name }) => name === 'data/posthorn.toml')
          ? programsOf(configFile(to))
          : []
        if (place.json) {
          return sayJson({
            ...{ dataDir: to, madeAt: jsonTime(madeAt) },
            ...{ keptIn: keptIn ?? null, etcIn: etcIn ?? null, programs, rows: manifest.rows },
          })
        }
        say(`Restored to ${to}, as it was at ${shownTime(madeAt)}`)
        if (keptIn !== undefined) say(`What was there before is in ${keptIn}`)
        if (etcIn !== undefined) say(`The files of /etc/posthorn are in ${etcIn}, to be put there`)
        for (const program of programs) {
          remark(
            `The settings of the backup run ${visibleLines(program)}: if it was in the hands of others, look at ${configFile(to)} before the start`,
          )
        }
        remark(
          "The next start holds the mail that waited then, as it may have been sent since: 'posthorn queue held' lists it, 'queue release' sends it",
        )
      } finally {
        unlock()
      }
    })
}

/** What settings have others run, whoever wrote them: `backup.hook: rclone copy …`. */
function programsOf(file: string): string[] {
  let config: ReturnType<typeof loadConfig>
  try {
    config = loadConfig({ env: {}, file })
  } catch {
    // The start says what is wrong with them, and runs nothing.
    return []
  }
  const { backup, operator } = config
  return Object.entries({ 'backup.hook': backup.hook, 'operator.command': operator.command })
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `${name}: ${JSON.stringify(words)}`)
}
