import type { Command } from 'commander'
import { lockDataDir } from '../app/lock.js'
import { OperatorError } from '../errors/index.js'
import {
  isAnyAlive,
  lastBeatOf,
  markedLoss,
  markLoss,
  readLastBeat,
  wentBack,
  writeLastBeat,
} from '../nodes/index.js'
import { type CliDeps, withStore } from './database.js'
import { say, sayJson } from './output.js'
import { nodeNameOfPlace, placeOf } from './place.js'

/** `posthorn database accept`: goes on with a database that has forgotten its last commits. */
export function databaseAccept(database: Command): void {
  database
    .command('accept')
    .description('go on with a PostgreSQL that went back in time, while no appliance runs')
    .option('--held', 'hold all that waits: it may have been sent after that moment')
    .option('--lost', 'hold nothing: what was done in those seconds is gone, and may be done again')
    .addHelpText(
      'after',
      `
Example:
  $ sudo posthorn database accept --held
  $ sudo systemctl start posthorn
  $ sudo posthorn queue held

The appliance does not start on a database that knows less than it has acknowledged: somebody has put a backup back, or a
standby that lacked the last commits became the primary. Which of the two answers is right depends on how much is gone.`,
    )
    .action(async (options: { held?: boolean; lost?: boolean }, command: Command) => {
      if (options.held && options.lost) {
        command.error('error: --held and --lost exclude each other')
      }
      if (!options.held && !options.lost) command.error('error: one of --held and --lost is needed')
      const place = placeOf(command)
      const nodeName = nodeNameOfPlace(place)
      const unlock = lockDataDir(place.dataDir)
      try {
        const accept = async ({ store, clock }: CliDeps) => {
          const last = readLastBeat(place.dataDir)
          const beat = await lastBeatOf(store.read, nodeName)
          const ms = wentBack(last, beat)
          // What another node has noticed counts for one that was away.
          const loss =
            last === undefined || ms === undefined
              ? await markedLoss(store.read)
              : { at: last.at, ms }
          if (loss === undefined) {
            throw new OperatorError(
              'The database knows all that this appliance has seen of it: there is nothing to accept',
            )
          }
          // A lease would make the next start believe that others have seen to what waits, as they have when they live.
          const isAccepted = await isAnyAlive(store.read, clock)
          const holds = options.held === true && !isAccepted
          await store.write(async (tx) => {
            const backup_made_at = loss.at - loss.ms
            if (holds) await tx.updateTable('appliance').set({ backup_made_at }).execute()
            await markLoss(tx, undefined)
          })
          writeLastBeat(place.dataDir, { beat, at: clock.now() })
          if (place.json) return sayJson({ backSeconds: Math.ceil(loss.ms / 1_000), held: holds })
          say(
            holds
              ? "The next start holds what waits; 'posthorn queue held' lists it"
              : isAccepted
                ? 'The next start goes on with the nodes that are alive'
                : 'The next start goes on, and holds nothing',
          )
        }
        await withStore(place, accept, { accepts: true })
      } finally {
        unlock()
      }
    })
}
