import { campaignsDueAt } from '../broadcasts/index.js'
import { holds, kindOfDuty } from '../nodes/index.js'
import { type Calendar, calendarJobs, openCalendar } from './calendar.js'
import { choresOf } from './chores.js'
import { formChores } from './form-chores.js'
import type { Front } from './front.js'
import type { Ground } from './ground.js'
import { isOfEach } from './hear-others.js'
import { startHousekeeping } from './housekeeping.js'
import type { DutyHooks } from './several.js'
import type { WayBack } from './way-back.js'
import type { Tools, Work } from './work.js'

/** What comes again: the chores of the main thread and the jobs of the calendar. Nothing runs before `begin`. */
export function makeRecurring(
  parts: { ground: Ground; front: Front; work: Work; tools: Tools },
  back: WayBack,
) {
  const { ground, front, work, tools } = parts
  const { config, clock, log, store, metrics } = ground
  const { jobs, jobThreads } = work
  let calendar: Calendar | undefined
  const runNow: Calendar['runNow'] = (name) => calendar?.runNow(name)
  const { certificates } = front
  let hasBegun = false
  const keepCalendar = async () => {
    if (!hasBegun || calendar !== undefined || !holds(store.node, 'calendar')) return
    calendar = await openCalendar({
      store,
      clock,
      log,
      meter: metrics.meter,
      threads: {
        run(name, options) {
          if (isOfEach(name)) work.nodes.tell({ jobs: [name] })
          return jobThreads.run(name, options)
        },
      },
      jobs: calendarJobs(config.jobs),
      zone: config.jobs.zone,
    })
  }
  const duties: DutyHooks = {
    async taken(duty) {
      const name = kindOfDuty(duty)
      if (name === 'calendar') await keepCalendar()
      if (name === 'courier') await work.crew.startWhatIsMissing()
      // Work that a node which is gone has left half done does not wait for the next look.
      if (hasBegun && name === 'expand') jobs.heard.expand()
      if (hasBegun && name === 'automate') jobs.automateIfDue()
      if (hasBegun && name === 'segments') jobs.keepSegments()
    },
    async left(name) {
      if (name === 'calendar') {
        const kept = calendar
        calendar = undefined
        await kept?.close()
      }
      if (kindOfDuty(name) !== 'courier') return
      await work.crew.letGoOfWebhooks()
      await work.crew.startWhatIsMissing()
    },
  }
  const chores = [
    ...choresOf({ ground, work, tools, certificates, runNow, duties }),
    ...formChores(ground, front),
  ]
  let housekeeping: ReturnType<typeof startHousekeeping> | undefined
  back.add(() => housekeeping?.stop())
  back.add(async () => {
    // The calendar writes how its jobs ended, so their threads end first.
    const closed = calendar?.close()
    await jobThreads.close()
    await closed
  })
  return {
    runNow,
    async begin() {
      housekeeping = startHousekeeping(clock, log, chores, {
        isHere: (duty) => holds(store.node, duty),
        commits: store.commits,
      })
      hasBegun = true
      await keepCalendar()
      // Goes on with what a stop or a kill has left half done.
      if (await campaignsDueAt({ store, clock })) jobs.expand()
      jobs.automateIfDue()
    },
  }
}
