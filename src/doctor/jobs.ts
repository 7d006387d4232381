import { readStanding } from '../calendar/index.js'
import { utcTime } from '../clock/index.js'
import type { DoctorDeps } from './deps.js'
import { type Finding, findingsOf } from './finding.js'

/** Whether periodic work is done: the last run of each job of the calendar, and whether the next one came. */
export async function checkJobs({ read, config, clock }: DoctorDeps): Promise<Finding[]> {
  const now = clock.now()
  const standings = await readStanding(read, config.jobs, now)
  const findings = standings.flatMap(({ name, last, dueAt, isOverdue }): Finding[] => {
    const of = findingsOf('jobs', name)
    if (isOverdue && dueAt !== null) {
      const found = `has not run since it was due at ${utcTime(dueAt)}`
      return [of.fail(found, "see whether the appliance runs: 'systemctl status posthorn'")]
    }
    if (last?.result !== 'failed' && last?.result !== 'timed out') return []
    const found = `the last run, at ${utcTime(last.beganAt)}, ${last.result}: ${last.error}`
    return [of.fail(found, `mend the cause and run it again: 'posthorn job run ${name}'`)]
  })
  if (findings.length > 0) return findings
  return [findingsOf('jobs', 'the calendar').ok(`${standings.length} jobs, none failed or overdue`)]
}
