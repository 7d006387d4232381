import { type Command, Option } from 'commander'
import { counted, shownBytes, shownCount } from '../amounts/index.js'
import type { Plans } from '../billing/index.js'
import { setReceivingHost } from '../domains/index.js'
import * as operations from '../receiving/contract.js'
import {
  addRule,
  addressIn,
  byRuleWords,
  changeRule,
  deleteRule,
  findRule,
  listRules,
  type ReceivingRule,
  receivedByRule,
  receivingActions,
  shownChange,
  shownRule,
  usageAnswer,
  whereAnswer,
} from '../receiving/index.js'
import { answering, answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { accountOption } from './database.js'
import { unknownDomain } from './domain-records.js'
import { givenTo } from './given.js'
import { withHints } from './limits.js'
import { wholeNumber } from './option-values.js'
import { say, sayFields, sayNext, sayTable, shownTime } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'
import { plansOf } from './plan.js'

/** `posthorn receiving`: where mail that comes in goes. */
export function receivingCommands(program: Command): void {
  const receiving = program
    .command('receiving')
    .description('which addresses take mail that comes in, and where it goes')
  addCommands(receiving, rows)
}

const toOption = () => new Option('--to <address>', 'the address that it is sent on to')
const placeOption = () =>
  new Option(
    '--place <number>',
    'its place, counted from 1: the first rule that fits decides',
  ).argParser(wholeNumber(1, 10_000))

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listReceivingRules,
    isDefault: true,
    about: 'show the rules in their order',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn receiving list',
    run: answeringWith((place: CommandPlace) => ({ plans: plansOf(place) }), list),
  },
  {
    usage: 'host <domain> [host]',
    about: 'receive mail at a domain, or at a name below it',
    options: [accountOption(), new Option('--off', 'receive no mail there any more')],
    help: `Publish the MX record that 'posthorn domain show' then has. The MX of the domain itself leads all of its mail here.

Examples:
  $ posthorn receiving host example.com in.example.com
  $ posthorn receiving host example.com --off`,
    run: answeringWith((place: CommandPlace) => ({ settings: settingsOf(place).outbound }), host),
  },
  {
    usage: 'add <pattern> <action>',
    does: operations.addReceivingRule,
    about: 'add a rule: webhook, forward or store',
    options: [accountOption(), toOption(), placeOption(), new Option('--off', 'not in force yet')],
    help: `A pattern is an address, or one whose local part ends in *. All mail is stored; webhook tells it as email.received.

Examples:
  $ posthorn receiving host example.com in.example.com
  $ posthorn receiving add 'support+*@in.example.com' webhook
  $ posthorn receiving add '*@in.example.com' forward --to team@example.org`,
    run: answeringWith((place: CommandPlace) => ({ plans: plansOf(place) }), add),
  },
  {
    usage: 'change <id>',
    does: operations.updateReceivingRule,
    about: 'change a rule, or move it',
    options: [
      accountOption(),
      new Option('--pattern <pattern>', 'for which addresses'),
      new Option('--action <action>', 'what is done with it').choices([...receivingActions]),
      toOption(),
      placeOption(),
      new Option('--off', 'the rule is passed over'),
      new Option('--on', 'the rule is in force again'),
    ],
    help: 'Example:\n  $ posthorn receiving change 01a1fc92-0000-7000-8000-3d4e5f607182 --place 1',
    run: answeringWith((place: CommandPlace) => ({ plans: plansOf(place) }), change),
  },
  {
    usage: 'delete <id>',
    does: operations.deleteReceivingRule,
    about: 'delete a rule; what came in by it stays',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn receiving delete 01a1fc92-0000-7000-8000-3d4e5f607182',
    run: answering(remove),
  },
  {
    usage: 'usage',
    does: operations.getReceivingUsage,
    about: 'show what of the plan mail that comes in has used, and what was refused for it',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn receiving usage',
    run: answeringWith((place: CommandPlace) => ({ plans: plansOf(place) }), usage),
  },
  {
    usage: 'where <address>',
    does: operations.whereWouldMailGo,
    about: 'say where mail to an address would go; nothing is sent',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn receiving where support+7@in.example.com',
    run: answeringWith((place: CommandPlace) => ({ plans: plansOf(place) }), where),
  },
]

async function list({ store: { read }, account, plans }: CommandDeps & { plans: Plans }) {
  const rules = await listRules(read, (await account()).id, plans)
  return {
    json: { rules: rules.map(shownRule) },
    say: () =>
      sayTable(
        ['PLACE', 'ID', 'PATTERN', 'ACTION', 'TO', 'IN FORCE'],
        rules.map((rule) => [
          String(rule.place),
          rule.id,
          rule.pattern,
          rule.action,
          rule.forwardTo ?? '-',
          rule.enabled ? (rule.note ?? 'yes') : 'no',
        ]),
        "No rule, so no mail is taken; 'posthorn receiving add PATTERN ACTION' adds one",
      ),
  }
}

async function host(
  deps: CommandDeps & { settings: { heloName: string } },
  name: string,
  given: string | undefined,
  { off }: { off?: true },
) {
  const { id } = await deps.account()
  const wanted = off === true ? null : (given ?? name)
  const domain = await withHints(unknownDomain, () => setReceivingHost(deps, id, name, wanted))
  return {
    json: { id: domain.id, name: domain.name, receivingHost: domain.receivingHost },
    say() {
      if (domain.receivingHost === null) return say(`${domain.name} receives no mail`)
      say(`Mail to ${domain.receivingHost} is received`)
      sayNext(`posthorn domain show ${domain.name} has the MX record to publish`)
    },
  }
}

interface RuleOptions {
  pattern?: string
  action?: string
  to?: string
  place?: number
  on?: true
  off?: true
}

async function add(
  deps: CommandDeps & { plans: Plans },
  pattern: string,
  action: string,
  { to, place, off }: RuleOptions,
) {
  const fields = { pattern, action, forwardTo: to, place, enabled: off !== true }
  const given = givenTo(operations.addReceivingRule, fields)
  const rule = await addRule(deps, (await deps.account()).id, given)
  return answerOf(rule, `Rule ${rule.place} is added: ${rule.id}`)
}

async function change(
  deps: CommandDeps & { plans: Plans },
  id: string,
  { on, off, to, ...more }: RuleOptions,
) {
  const fields = {
    ...more,
    forwardTo: to,
    ...(on === true || off === true ? { enabled: on === true } : {}),
  }
  const given = givenTo(operations.updateReceivingRule, fields)
  const { rule, moved } = await withHints(unknownRule, async () =>
    changeRule(deps, (await deps.account()).id, id.toLowerCase(), given),
  )
  const { say: sayIt } = answerOf(rule, `Rule ${rule.place} is changed`)
  return {
    json: shownChange({ rule, moved }),
    say() {
      sayIt()
      for (const one of moved) say(`Rule ${one.was} is rule ${one.place} now: ${one.pattern}`)
    },
  }
}

const unknownRule = { not_found: "'posthorn receiving list' shows them" }

const answerOf = (rule: ReceivingRule, line: string) => ({
  json: shownRule(rule),
  say: () => say(rule.note === null ? line : `${line}. ${rule.note}`),
})

async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const { id: accountId } = await deps.account()
  const rule = await withHints(unknownRule, () =>
    findRule(deps.store.read, accountId, id.toLowerCase()),
  )
  const intent = {
    to: `delete the rule for ${rule.pattern}`,
    facts: [
      'Mail to addresses that no other rule is about is refused from then on',
      byRuleWords(await receivedByRule(deps.store.read, accountId, rule.id)),
    ],
    counts: { rules: 1 },
    how: 'mild',
  } as const
  if (!(await confirmed(deps.place, options, intent))) return
  await deleteRule(deps, accountId, rule.id)
  const message = 'Rule deleted; what came in by it stays'
  return { json: { id: rule.id, deleted: true, message }, say: () => say(message) }
}

async function usage({ store: { read }, account, plans, clock }: CommandDeps & { plans: Plans }) {
  const json = await usageAnswer({ read, plans }, (await account()).id, clock.now())
  const { hour, day, storage, largestMib, keptDays, refused } = json
  const lineOf = ({ used, limit, left }: typeof storage, shown = shownCount) =>
    limit === null
      ? `${shown(used)}, no limit`
      : `${shown(used)} of ${shown(limit)}, ${shown(left ?? 0)} left`
  const again = (resetsAt: string) => `; counts again from ${shownTime(Date.parse(resetsAt))}`
  return {
    json,
    say() {
      sayFields({
        'This hour': lineOf(hour) + again(hour.resetsAt),
        Today: lineOf(day) + again(day.resetsAt),
        Storage: lineOf(storage, shownBytes),
        'Largest mail': `${largestMib} MiB`,
        Kept: counted(keptDays, 'day'),
      })
      for (const { mails, words, lastAt } of refused) {
        say(
          `Refused today: ${shownCount(mails)}, as ${words}; the last at ${shownTime(Date.parse(lastAt))}`,
        )
      }
    },
  }
}

async function where(deps: CommandDeps & { plans: Plans }, address: string) {
  const { local, host: at } = addressIn(address)
  const json = await whereAnswer(deps, (await deps.account()).id, local, at)
  return {
    json,
    say: () => say(json.taken ? json.why : `Mail to ${json.address} is refused: ${json.why}`),
  }
}
