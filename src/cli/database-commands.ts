import type { Command } from 'commander'
import { shownBytes } from '../amounts/index.js'
import { lockDataDir } from '../app/lock.js'
import { OperatorError } from '../errors/index.js'
import { databaseAccept } from './database-accept.js'
import { databaseContract } from './database-contract.js'
import { databaseCopy } from './database-copy.js'
import { say, sayJson } from './output.js'
import { becomeOwner, databaseOf, placeOf, requireDataDir } from './place.js'

/** `posthorn database`: work on the database itself, whatever its contents. */
export function databaseCommands(program: Command): void {
  const database = program
    .command('database')
    .alias('store')
    .description('the database that everything is in')

  database
    .command('vacuum')
    .description('write the database again without its free pages, while no appliance runs')
    .addHelpText(
      'after',
      `
Example:
  $ sudo systemctl stop posthorn
  $ sudo posthorn database vacuum
  $ sudo systemctl start posthorn

The disk needs room for a second database, and a GB takes some ten seconds. The job optimize gives free pages back
beside the running appliance; only a database that an older Posthorn has made needs this once.`,
    )
    .action(async (_options, command: Command) => {
      const place = placeOf(command)
      if (databaseOf(place).url !== undefined) throw new OperatorError(noVacuum)
      becomeOwner(place)
      await requireDataDir(place)
      const { vacuumStore } = await import('../store/index.js')
      // Throws where an appliance runs: VACUUM writes the whole file anew.
      const unlock = lockDataDir(place.dataDir)
      try {
        const { beforeBytes, afterBytes } = vacuumStore(place.dataDir)
        if (place.json) return sayJson({ beforeBytes, afterBytes })
        say(`The database had ${shownBytes(beforeBytes)} and has ${shownBytes(afterBytes)} now.`)
      } finally {
        unlock()
      }
    })
  databaseAccept(database)
  databaseContract(database)
  databaseCopy(database)
}

const noVacuum =
  "The database is a PostgreSQL's, whose autovacuum does this by itself: 'posthorn doctor' tells where it does not keep up"
