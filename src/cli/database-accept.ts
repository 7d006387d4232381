import type { Command } from 'commander'
import { lockDataDir } from '../app/lock.js'
import { OperatorError } from '../errors/index.js'
import { isAnyAlive, lastBeatOf, readLastBeat, wentBack, writeLastBeat } from '../nodes/index.js'
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
          const backMs = wentBack(last, beat)
          if (last === undefined || backMs === undefined) {
            throw new OperatorError(
              'The database knows all that this appliance has seen of it: there is nothing to accept',
            )
          }
          // A lease would make the next start believe that others have seen to what waits, as they have when they live.
          const isAccepted = await isAnyAlive(store.read, clock)
          const holds = options.held === true && !isAccepted
          if (holds) {
            const backup_made_at = last.at - backMs
            await store.write((tx) => tx.updateTable('appliance').set({ backup_made_at }).execute())
          }
          writeLastBeat(place.dataDir, { beat, at: clock.now() })
          if (place.json) return sayJson({ backSeconds: Math.ceil(backMs / 1_000), held: holds })
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
