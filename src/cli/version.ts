import type { Command } from 'commander'
import { systemClock } from '../clock/index.js'
import {
  isSupported,
  packageVersion,
  runtimeInUse,
  unfitSystem,
  wayToFixes,
} from '../config/index.js'
import { askAppliance } from './ask.js'
import { remark, say, sayJson, warn } from './output.js'
import { type CommandPlace, placeOf } from './place.js'

/** `posthorn version`: works without native packages too, and then says why they do not fit. */
export function versionCommand(program: Command): void {
  program
    .command('version')
    .description(
      'print the version of Posthorn and of Node, and that of the appliance if it differs',
    )
    .addHelpText('after', '\nExample:\n  $ posthorn version --json | jq -r .version')
    .action(async (_options, command: Command) => {
      const place = placeIfSeen(command)
      const version = packageVersion()
      const { node } = process.versions
      const runtime = runtimeInUse()
      const { name, supportEnds } = runtime
      const supported = isSupported(runtime, systemClock.now())
      const unfit = unfitSystem()
      if (unfit !== undefined) warn(unfit)
      const told = place && (await askAppliance(place, { overview: true }))
      const appliance = told?.overview?.version ?? null
      if (command.optsWithGlobals<{ json?: boolean }>().json) {
        // Loaded only here, as it loads the database: only an upgrade asks this way, to know that the database
        // can be loaded.
        const { latestSchema } = await import('../store/index.js')
        const schema = await latestSchema()
        return sayJson({
          version,
          node,
          runtime: { name, supportEnds, supported },
          schema,
          appliance,
        })
      }
      say(`posthorn ${version} (Node ${node}, ${name})`)
      say(
        `Node ${supported ? 'gets' : 'got'} fixes until ${supportEnds}${supported ? '' : `: ${wayToFixes(runtime)}`}`,
      )
      if (appliance === null || appliance === version) return
      remark(
        `The appliance that runs on ${place?.dataDir} is of version ${appliance}: 'systemctl restart posthorn' starts the one that is installed`,
      )
    })
}

/** A user who may not look into the data directory still learns which version is installed. */
function placeIfSeen(command: Command): CommandPlace | undefined {
  try {
    return placeOf(command)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return undefined
    throw error
  }
}
