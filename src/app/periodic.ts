import type { JobResult } from '../calendar/index.js'
import { type ApplianceKey, type Config, openApplianceKey } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import { applianceKeyFile } from './files.js'
import { inJobThread, type JobGround } from './job.js'
import { openResolver } from './resolver.js'

/**
 * What a job of the calendar is given. `signal` aborts when the appliance stops or the run takes too long; after 10
 * seconds more the thread is terminated.
 */
export interface PeriodicContext extends Omit<JobGround, 'data' | 'say' | 'rest'> {
  config: Config
  configFile: string | undefined
  dataDir: string
  resolver: Resolver
  key: ApplianceKey
}

/**
 * The thread of a job of the calendar: its file in `src/jobs/` calls this with the work, which stands in the domain's
 * folder. What the work returns is the run's result, and an error that it throws is its failure.
 */
export async function runPeriodic(
  name: string,
  work: (context: PeriodicContext) => Promise<JobResult>,
): Promise<void> {
  await inJobThread(name, async ({ data, say, rest: _, ...ground }) => {
    const { config, configFile, dataDir } = data
    const resolver = openResolver(config.dns, ground.clock)
    const key = openApplianceKey(applianceKeyFile(dataDir))
    say(await work({ ...ground, config, configFile, dataDir, resolver, key }))
  })
}
