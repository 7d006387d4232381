import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { plansFile } from '../app/files.js'
import { loadPlans, type Plans } from '../billing/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { say, sayJson, sayTable, styled } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'

/** The plans that the appliance has at its next start. */
export const plansOf = (place: CommandPlace): Plans =>
  loadPlans(plansFile(place.dataDir), settingsOf(place).ceilings)

/** `posthorn plan`: which plans exist; they are changed in a file. */
export function planCommands(program: Command): void {
  const plan = program.command('plan').description('plans that accounts can have')
  addCommands(plan, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    about: 'show the plans, and which file they come from',
    help: `Example:
  $ posthorn plan list

To change plans, copy the file to plans.toml in the data directory or to /etc/posthorn/plans.toml
and edit it there; 'posthorn account set-plan' gives an account its plan.`,
    run: runList,
  },
]

/** Reads only the file, and no database. */
function runList(_options: unknown, command: Command) {
  const place = placeOf(command)
  const plans = plansOf(place)
  if (place.json) return sayJson({ file: plansFile(place.dataDir), ...forMachines(plans) })
  sayTable(
    [
      'NAME',
      'MAILS A MONTH',
      'A DAY',
      'AN HOUR',
      'A MINUTE',
      'IN A DAY',
      'IN AN HOUR',
      'EACH IN',
      'DOMAINS',
      'WEBHOOKS',
      'LOG KEPT',
      '₦ A MONTH',
      'ID',
    ],
    plans.email.map((p) => [
      p.name,
      shownLimit(p.monthlyLimit),
      p.dailyLimit === null ? '-' : shownLimit(p.dailyLimit),
      p.perHour === null ? '-' : shownLimit(p.perHour),
      p.perMinute === null ? '-' : shownLimit(p.perMinute),
      shownLimit(p.receivedPerDay),
      p.receivedPerHour === null ? '-' : shownLimit(p.receivedPerHour),
      `${p.receivedMib} MiB`,
      shownLimit(p.domains),
      p.webhooks ? 'yes' : 'no',
      counted(p.retentionDays, 'day'),
      p.priceNaira.toLocaleString('en'),
      p.id,
    ]),
    'No email plan',
  )
  say()
  sayTable(
    ['NAME', 'CONTACTS', 'CAMPAIGN MAILS A MONTH', '₦ A MONTH', 'ID'],
    plans.marketing.map((p) => [
      p.name,
      shownLimit(p.contacts),
      shownLimit(p.monthlySendLimit),
      p.priceNaira.toLocaleString('en'),
      p.id,
    ]),
    'No marketing plan',
  )
  say()
  say(
    `By default the first account has ${plans.firstAccount.name}, others ${plans.otherAccounts.name}.`,
  )
  say(styled('dim', plansFile(place.dataDir)))
}

/** A limit for people; null means that there is none. */
export const shownLimit = (limit: number | null) =>
  limit === null ? 'unlimited' : limit.toLocaleString('en')

/** The plans for scripts. */
const forMachines = ({ email, marketing, firstAccount, otherAccounts }: Plans) => ({
  email,
  marketing,
  defaults: { firstAccount: firstAccount.name, otherAccounts: otherAccounts.name },
})
