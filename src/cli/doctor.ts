import type { Command } from 'commander'
import { applianceKeyFile } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { type Clock, systemClock } from '../clock/index.js'
import { openApplianceKey } from '../config/index.js'
import { examine, type Finding } from '../doctor/index.js'
import { answeringNothing, type Read } from '../store/index.js'
import { isAway } from './away.js'
import { withStore } from './database.js'
import { say, sayJson, styled, visibleLine } from './output.js'
import { placeOf, settingsOf } from './place.js'

/**
 * `posthorn doctor`: examines now. The job of the same name does so each night and keeps what it
 * found.
 */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at this appliance as the world does; status 1 when something must be fixed')
    .addHelpText('after', help)
    .action(async (_options, command: Command) => {
      const place = placeOf(command)
      const config = settingsOf(place)
      const look = ({ read, clock }: { read: Read; clock: Clock }) => {
        const resolver = openResolver(config.dns, clock)
        const key = openApplianceKey(applianceKeyFile(place.dataDir))
        const { dataDir } = place
        const { random } = Math
        return examine({ config, dataDir, read, clock, resolver, key, random })
      }
      let lacksDatabase = false
      const findings = await withStore(place, ({ store: { read }, clock }) =>
        look({ read, clock }),
      ).catch(async (error: unknown) => {
        if (!(await isAway(place, error))) throw error
        lacksDatabase = true
        return await look({ read: await answeringNothing(error), clock: systemClock })
      })
      const failed = lacksDatabase || findings.some(({ state }) => state === 'fail')
      // The status lets a script act on the findings.
      if (failed) process.exitCode = 1
      if (place.json) return sayJson({ ok: !failed, route: config.outbound.route, findings })
      for (const finding of findings) sayFinding(finding)
      say(`\n${summary(findings)}`)
      if (config.outbound.route === 'sandbox') {
        say(
          'The route is "sandbox": what concerns the world is only a warning while nothing leaves.',
        )
      }
    })
}

const help = `
Example:
  $ posthorn doctor --json | jq '.findings[] | select(.state == "fail")'

Complaints come to feedback@ at outbound.helo_name, once it is registered with the feedback loops:
  Microsoft (JMRP, SNDS)  https://sendersupport.olc.protection.outlook.com/snds/
  Yahoo (CFL)             https://senders.yahooinc.com/complaint-feedback-loop/
Reports of others count once they are in a feedback-loops.toml of yours (config/feedback-loops.toml).
Google has none for single complaints; its rates: https://postmaster.google.com`

/** `unchecked` is blue: neither good nor bad. */
const colours = { ok: 'green', warn: 'yellow', fail: 'red', unchecked: 'blue' } as const

/** A finding in a line, and how to mend it in a second one. */
function sayFinding({ check, subject, state, found, fix }: Finding): void {
  const mark = styled(colours[state], state === 'unchecked' ? '?   ' : state.padEnd(4))
  const what = state === 'unchecked' ? `not checked: ${found}` : found
  // A server's words must not look like a line of ours.
  say(`${mark}  ${check}  ${visibleLine(`${subject}: ${what}`)}`)
  if (fix !== '') say(`      fix: ${visibleLine(fix)}`)
}

/**
 * Unchecked findings are neither good nor bad; they are counted apart, or a machine without DNS
 * would look healthy.
 */
function summary(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length
  const unchecked = count('unchecked')
  const rest = unchecked === 0 ? '' : `, ${unchecked} not checked`
  return `${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} to fix${rest}`
}
