import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { copiedNote, copyingNote } from '../app/files.js'
import { lockDataDir } from '../app/lock.js'
import { openOwnKey } from '../app/own-database.js'
import { databaseAt, withoutPassword } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { databaseCalled, withoutSecrets, writeDurably } from '../store/index.js'
import { storeUrl } from './option-values.js'
import { remark, say, sayJson } from './output.js'
import {
  becomeOwner,
  type CommandPlace,
  databaseOf,
  placeOf,
  requireDataDir,
  storeSettingsOf,
} from './place.js'

/** `posthorn database copy`: from the file of SQLite to a PostgreSQL. */
export function databaseCopy(database: Command): void {
  database
    .command('copy')
    .description('copy everything from the file into a PostgreSQL, while no appliance runs')
    .requiredOption(
      '--to <url>',
      'the empty database, such as postgres://user@host:5432/posthorn',
      storeUrl,
    )
    .option('--again', 'once more, after a copy into a database that is not to be used', false)
    .addHelpText(
      'after',
      `
Example:
  $ sudo systemctl stop posthorn
  $ sudo posthorn database copy --to 'postgres://posthorn@db.example.net/posthorn?sslmode=verify-full'

Then write the address into [store] of the settings, and start the appliance. There is no way back to SQLite. The file
stays as it is, and the appliance starts on it no more, as two would send the same mail. A copy that was broken off is
gone on with by the same command; nothing starts on a part of one. Where it went to the wrong database, --again with
another --to copies once more: no appliance may have been started on the first. The password is that of
store.password_file, which the settings may name without an address, or of systemd's credential store-password.
A backup of SQLite comes into PostgreSQL in the same way: 'posthorn restore FILE --to DIR' makes a directory of it, and
'posthorn database copy --data DIR --to …' copies that.`,
    )
    .action(async ({ to, again }: { to: string; again: boolean }, command: Command) => {
      const place = placeOf(command)
      const { url } = databaseAt(place.dataDir, { ...storeSettingsOf(place), url: to })
      becomeOwner(place)
      const target = url ?? to
      await requireDataDir(place, {
        evenCopied: again || begunTo(place.dataDir) === withoutSecrets(target),
      })
      const unlock = lockDataDir(place.dataDir)
      try {
        await copy(place, target)
      } finally {
        unlock()
      }
    })
}

/** The target of a copy that has begun and not ended. */
function begunTo(dataDir: string): string | undefined {
  const note = copyingNote(dataDir)
  return existsSync(note) ? readFileSync(note, 'utf8') : undefined
}

async function copy(place: CommandPlace, url: string): Promise<void> {
  const { dataDir } = place
  if (databaseOf(place).url !== undefined) {
    throw new OperatorError(
      'The settings name a PostgreSQL already (store.url): take that out, and copy first',
    )
  }
  const { copyOver, findDatabase, markUnfinished, migrateStore, schemaState } = await import(
    '../store/index.js'
  )
  remark(
    'There is no way back to SQLite after this: the file stays, and what comes in later is in PostgreSQL alone',
  )
  await openOwnKey({ dataDir })
  if ((await schemaState({ dataDir })).kind !== 'same') {
    throw new OperatorError(
      `${databaseCalled({ dataDir })} is of another version: 'posthorn init' brings it up to date first`,
    )
  }
  const target = { dataDir, url }
  const named = withoutSecrets(url)
  const { kind } = await findDatabase(target)
  if (kind !== 'empty' && begunTo(dataDir) !== named) {
    throw new OperatorError(
      kind === 'unfinished'
        ? `In ${named} is a part of a copy that was begun from elsewhere, or before another one: drop it, and make it anew`
        : `${databaseCalled(target)} is not empty: name a new one, which 'createdb' makes`,
    )
  }
  writeDurably(copyingNote(dataDir), named)
  // A copy that was killed between its end and the note about it is only looked at: an appliance may have been started
  // there.
  const whole = kind === 'there'
  if (!whole) {
    await markUnfinished(url)
    await migrateStore(target)
  }
  const progress = makeProgress(place)
  const done = await copyOver(dataDir, url, { onProgress: progress.show, whole })
  progress.end()
  writeDurably(copiedNote(dataDir), named)
  rmSync(copyingNote(dataDir))
  const rows = done.reduce((sum, table) => sum + table.rows, 0)
  if (place.json) return sayJson({ to: named, rows, tables: done })
  say(`${counted(rows, 'row')} in ${done.length} tables are copied to ${named}, and compared`)
  remark(
    `Next: url = ${JSON.stringify(withoutPassword(url))} in [store] of the settings, then start Posthorn. posthorn.db stays as it is`,
  )
}

/** At a terminal a line that changes; elsewhere a line for each table that has rows, and each tenth of a long one. */
function makeProgress({ json }: CommandPlace) {
  const { isTTY } = process.stderr
  const step = isTTY ? 1 : 10
  let shown = ''
  return {
    show({ table, copied, of }: { table: string; copied: number; of: number }) {
      const line = `${table}: ${step * Math.floor((100 * copied) / of / step)} %`
      if (json || line === shown) return
      shown = line
      if (isTTY) process.stderr.write(`\r\u001b[K${line}`)
      else remark(line)
    },
    end() {
      if (isTTY && shown !== '') process.stderr.write('\r\u001b[K')
    },
  }
}
