import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { applianceKeyFile } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { dayMs, systemClock } from '../clock/index.js'
import { openApplianceKey } from '../config/index.js'
import type { Operation } from '../contract/index.js'
import * as operations from '../webhooks/contract.js'
import {
  addEndpoint,
  countRequests,
  deletedWebhook,
  deleteEndpoint,
  findEndpoint,
  judgeTarget,
  rotatedWebhook,
  rotateSecret,
  shownWebhook,
  triedWebhook,
  tryEndpoint,
  updateEndpoint,
  webhookEvents,
  webhooksAnswer,
} from '../webhooks/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption, type CliDeps, chosenAccount, withStore } from './database.js'
import { givenTo } from './given.js'
import { withHints } from './limits.js'
import { span } from './option-values.js'
import { remark, say, sayFields, sayJson, sayTable, sayText, shownTime, warn } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'
import { plansOf } from './plan.js'
import { webhookHistoryRows } from './webhook-history.js'

/** What any of the sub-commands may be given. */
interface Options {
  account?: string
  events?: string
  overlap: number
}

const exampleId = '019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11'
const keep = 'Keep it now: it cannot be shown again.'

/** Where an account's own servers hear of its mail. */
export function webhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .description("webhooks: an account's own servers hear of its mail")
  addCommands(webhook, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'add <url>',
    does: operations.createWebhook,
    about: 'add an endpoint and show its secret, this once',
    options: [
      accountOption(),
      new Option('--events <list>', `which of ${webhookEvents.join(', ')} (default: all)`),
    ],
    help: 'Example:\n  $ posthorn webhook add https://app.example.com/hooks --events bounced,complained',
    run: runAdd,
  },
  {
    usage: 'list',
    does: operations.listWebhooks,
    about: 'show the endpoints of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn webhook list',
    run: runList,
  },
  aboutOne('show', operations.getWebhook, 'show an endpoint', runShow),
  aboutOne(
    'test',
    operations.testWebhook,
    'send an invented event at once; status 1 unless it is taken',
    runTest,
  ),
  aboutOne(
    'rotate',
    operations.rotateWebhookSecret,
    'make a new secret and show it, this once; the old one signs too for a while',
    runRotate,
    [
      ...askOptions(),
      new Option('--overlap <duration>', 'how long')
        .default(dayMs, '24h')
        .argParser(span('24h', '0s', '30d')),
    ],
  ),
  aboutOne('enable', switching('enable'), 'send to it again', runEnable),
  aboutOne(
    'disable',
    switching('disable'),
    'send nothing more to it; what waits and what comes is set aside for a replay',
    runDisable,
  ),
  aboutOne(
    'delete',
    operations.deleteWebhook,
    'delete it and all that was kept of it',
    runDelete,
    askOptions(),
  ),
  ...webhookHistoryRows,
]

/** A row of a command that takes the id of an endpoint. */
function aboutOne(
  name: string,
  does: Operation,
  about: string,
  run: CommandRow['run'],
  options: readonly Option[] = [],
): CommandRow {
  return {
    usage: `${name} <id>`,
    does,
    about,
    options: [accountOption(), ...options],
    help: `Example:\n  $ posthorn webhook ${name} ${exampleId}`,
    run,
  }
}

/** The change that switches an endpoint, with the name that its button has in the audit log. */
function switching(verb: 'enable' | 'disable'): Operation {
  return { ...operations.updateWebhook, audit: `webhook.${verb}` }
}

/**
 * An endpoint that cannot be reached yet is added with a warning: its server may be set up next.
 */
async function runAdd(url: string, options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const named = options.events?.split(',').map((event) => event.replace(/^(?!email\.)/, 'email.'))
  const { events = webhookEvents } = givenTo(operations.createWebhook, { url, events: named })
  const doubt = await judgeTarget(guardOf(place, { clock: systemClock }), url)
  if (doubt !== undefined) warn(doubt)
  const made = await withStore(place, async (deps) => {
    const { id } = await chosenAccount(deps.store.read, options.account)
    const plans = plansOf(place)
    const hints = { plan_limit_exceeded: "'posthorn plan list' shows which plans have them" }
    const added = await withHints(hints, () =>
      addEndpoint(withKey(place, deps), plans, id, { url, events }),
    )
    return { ...(await shownWebhook(deps.store.read, added)), secret: added.secret }
  })
  if (place.json) return sayJson(made)
  say(made.secret)
  remark(`Endpoint ${made.id} is made; the line above is its secret. ${keep}`)
}

/** The endpoints; which events, where it is not all of them. */
async function runList(options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const answer = await withStore(place, async ({ store: { read } }) =>
    webhooksAnswer(read, (await chosenAccount(read, options.account)).id),
  )
  if (place.json) return sayJson(answer)
  sayTable(
    ['ID', 'URL', 'STATE', 'EVENTS'],
    answer.webhooks.map(({ id, url, enabled, events }) => [
      id,
      url,
      enabled ? 'enabled' : 'disabled',
      events.length === webhookEvents.length ? 'all' : eventsShown(events.map(short)),
    ]),
    "No webhook yet; 'posthorn webhook add URL' adds one",
  )
}

/** One endpoint. Its secret is shown only where it is made. */
async function runShow(id: string, options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const { found, answer } = await withStore(place, async ({ store: { read } }) => {
    const { id: accountId } = await chosenAccount(read, options.account)
    const found = await withHints(unknownHint, () => findEndpoint(read, accountId, id))
    return { found, answer: await shownWebhook(read, found) }
  })
  if (place.json) return sayJson(answer)
  sayFields({
    Id: found.id,
    URL: found.url,
    State: found.enabled
      ? 'enabled'
      : `disabled ${shownTime(found.disabledAt)}: ${found.disabledBecause}`,
    Events: eventsShown(found.events),
    'Failed in a row': `${found.failures}${found.failingSince === null ? '' : ` since ${shownTime(found.failingSince)}`}`,
    'Did not arrive': String(answer.notArrived),
    'Not kept': String(found.eventsNotKept),
    'Old secret until': shownTime(found.oldSecretUntil),
    Created: shownTime(found.createdAt),
  })
}

/**
 * Sent by this command and not by the appliance, with the same guard for addresses and the same
 * signature.
 */
async function runTest(id: string, options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const { taken, ...answer } = await withStore(place, async (deps) => {
    const { id: accountId } = await chosenAccount(deps.store.read, options.account)
    const { signal } = new AbortController()
    const of = {
      ...withKey(place, deps),
      ...guardOf(place, deps),
      read: deps.store.read,
      signal,
    }
    return triedWebhook(await withHints(unknownHint, () => tryEndpoint(of, accountId, id)))
  })
  if (!taken) process.exitCode = 1
  if (place.json) return sayJson({ taken, ...answer })
  say(
    taken ? `Taken: HTTP ${answer.status} after ${answer.tookMs} ms` : `Not taken: ${answer.error}`,
  )
  if (answer.response) sayText(answer.response)
}

/**
 * For the overlap both secrets sign, so that no event is refused while receivers learn the new one.
 */
async function runRotate(
  id: string,
  options: Options & AskOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { overlap } = options
  const made = await withStore(place, async (deps) => {
    const { id: accountId } = await chosenAccount(deps.store.read, options.account)
    const found = await withHints(unknownHint, () => findEndpoint(deps.store.read, accountId, id))
    const intent: Intent = {
      to: `make a new secret for ${found.url}`,
      facts: [
        overlap === 0
          ? 'Its server refuses what is signed until it knows the new one'
          : `The old one signs too until ${shownTime(systemClock.now() + overlap)}, and is void then`,
      ],
      counts: { id: found.id, overlapMs: overlap },
      how: 'mild',
    }
    if (!(await confirmed(place, options, intent))) return
    return await rotateSecret(withKey(place, deps), accountId, id, overlap)
  })
  if (made === undefined) return
  const { secret, oldSecretUntil } = made
  if (place.json) return sayJson(rotatedWebhook(id, secret, oldSecretUntil))
  say(secret)
  const old = oldSecretUntil === null ? 'is void' : `signs too until ${shownTime(oldSecretUntil)}`
  remark(`The secret before it ${old}. ${keep}`)
}

/** What was set aside meanwhile stays so: a replay, which is offered, sends it. */
async function runEnable(id: string, options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const { account, answer } = await change(place, id, options, true)
  if (place.json) return sayJson(answer)
  const { notArrived } = answer
  say(`Webhook ${id} is enabled`)
  if (notArrived === 0) return
  remark(
    `${counted(notArrived, 'event is', 'events are')} kept that did not arrive. To send what is kept:\n  posthorn webhook replay ${id.toLowerCase()} --failed --account ${account}`,
  )
}

/** By the operator's word; the appliance itself disables one after a day of failing and 30 events. */
async function runDisable(id: string, options: Options, command: Command): Promise<void> {
  const place = placeOf(command)
  const { answer } = await change(place, id, options, false)
  if (place.json) return sayJson(answer)
  say(`Webhook ${id} is disabled`)
}

/** What waits for it is lost, which the question says with its number. */
async function runDelete(
  id: string,
  options: Options & AskOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const isDeleted = await withStore(place, async (deps) => {
    const { read } = deps.store
    const { id: accountId } = await chosenAccount(read, options.account)
    const found = await withHints(unknownHint, () => findEndpoint(read, accountId, id))
    const requests = await countRequests(read, found.id)
    const intent: Intent = {
      to: `delete the webhook ${found.url}`,
      facts: [
        `Requests that wait and are then not sent: ${requests.waiting}`,
        `Requests that are deleted from the log, so that they cannot be replayed: ${requests.kept}`,
      ],
      counts: { id: found.id, url: found.url, ...requests },
      how: 'moderate',
    }
    if (!(await confirmed(place, options, intent))) return false
    await deleteEndpoint(deps, accountId, id)
    return true
  })
  if (!isDeleted) return
  if (place.json) return sayJson(deletedWebhook(id))
  say(`Webhook ${id} is deleted`)
}

/** Enables or disables an endpoint of the chosen account; resolves with the account's id and the endpoint as it then is. */
async function change(place: CommandPlace, id: string, { account }: Options, enabled: boolean) {
  return await withStore(place, async (deps) => {
    const { id: accountId } = await chosenAccount(deps.store.read, account)
    const changed = await withHints(unknownHint, () =>
      updateEndpoint(deps, accountId, id, { enabled }),
    )
    return { account: accountId, answer: await shownWebhook(deps.store.read, changed) }
  })
}

/** Secrets are sealed with the appliance key. */
const withKey = (place: CommandPlace, deps: CliDeps) => ({
  ...deps,
  key: openApplianceKey(applianceKeyFile(place.dataDir)),
})

/**
 * Where webhooks may go: never to addresses that are not public, unless `webhooks.allow` has them.
 */
function guardOf(place: CommandPlace, { clock }: Pick<CliDeps, 'clock'>) {
  const { dns, webhooks } = settingsOf(place)
  return { resolver: openResolver(dns, clock), allow: webhooks.allow, clock }
}

const unknownHint = { not_found: "'posthorn webhook list' shows those of the account" }

/** `bounced` for `email.bounced`. */
const short = (event: string) => event.replace('email.', '')

/** An endpoint without events was written by something broken, and gets none. */
const eventsShown = (events: readonly string[]) =>
  events.length === 0 ? 'damaged: delete it and add it again' : events.join(', ')
