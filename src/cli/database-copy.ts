import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { copiedNote, copyingNote } from '../app/files.js'
import { lockDataDir } from '../app/lock.js'
import { openOwnKey } from '../app/own-database.js'
import { databaseAt } from '../config/index.js'
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
    .addHelpText(
      'after',
      `
Example:
  $ sudo systemctl stop posthorn
  $ sudo posthorn database copy --to postgres://posthorn@db.example.net/posthorn?sslmode=verify-full

Then write the address into [store] of the settings, and start the appliance. There is no way back to SQLite. The file stays as it is, and the appliance starts on it no more, as two would send the
same mail. A copy that was broken off is gone on with by the same command. The password is that of store.password_file
or of systemd's credential store-password.`,
    )
    .action(async ({ to }: { to: string }, command: Command) => {
      const place = placeOf(command)
      const { url } = databaseAt(place.dataDir, { ...storeSettingsOf(place), url: to })
      becomeOwner(place)
      await requireDataDir(place)
      const unlock = lockDataDir(place.dataDir)
      try {
        await copy(place, url ?? to)
      } finally {
        unlock()
      }
    })
}

async function copy(place: CommandPlace, url: string): Promise<void> {
  const { dataDir } = place
  if (databaseOf(place).url !== undefined) {
    throw new OperatorError(
      'The settings name a PostgreSQL already (store.url): take that out, and copy first',
    )
  }
  const { copyOver, findDatabase, migrateStore, schemaState } = await import('../store/index.js')
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
  const note = copyingNote(dataDir)
  const begun = existsSync(note) ? readFileSync(note, 'utf8') : undefined
  if ((await findDatabase(target)).kind === 'there' && begun !== named) {
    throw new OperatorError(
      `${databaseCalled(target)} is not empty: name a new one, which 'createdb' makes`,
    )
  }
  writeFileSync(note, named)
  await migrateStore(target)
  let shown = ''
  const done = await copyOver(dataDir, url, ({ table, copied, of }) => {
    const percent = Math.floor((100 * copied) / of)
    const line = `${table}: ${percent} %`
    if (place.json || line === shown || !process.stderr.isTTY) return
    shown = line
    process.stderr.write(`\r\u001b[K${line}`)
  })
  if (shown !== '') process.stderr.write('\r\u001b[K')
  writeDurably(copiedNote(dataDir), named)
  rmSync(note)
  const rows = done.reduce((sum, table) => sum + table.rows, 0)
  if (place.json) return sayJson({ to: named, rows, tables: done })
  say(`${counted(rows, 'row')} in ${done.length} tables are copied to ${named}, and compared`)
  remark(
    `Next: url = "${named.replace('://', '://USER@')}" in [store] of the settings, then start Posthorn. posthorn.db stays as it is`,
  )
}
