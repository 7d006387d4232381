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
import { answering, answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { withHints } from './limits.js'
import { span } from './option-values.js'
import { remark, say, sayFields, sayTable, sayText, shownTime, warn } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'
import { plansOf } from './plan.js'
import { webhookHistoryRows } from './webhook-history.js'

/** What any of the sub-commands may be given. */
interface Options {
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
    run: answeringWith(guardOf, add),
  },
  {
    usage: 'list',
    does: operations.listWebhooks,
    about: 'show the endpoints of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn webhook list',
    run: answering(list),
  },
  aboutOne('show', operations.getWebhook, 'show an endpoint', answering(show)),
  aboutOne(
    'test',
    operations.testWebhook,
    'send an invented event at once; status 1 unless it is taken',
    answeringWith(guardOf, test),
  ),
  aboutOne(
    'rotate',
    operations.rotateWebhookSecret,
    'make a new secret and show it, this once; the old one signs too for a while',
    answering(rotate),
    [
      ...askOptions(),
      new Option('--overlap <duration>', 'how long')
        .default(dayMs, '24h')
        .argParser(span('24h', '0s', '30d')),
    ],
  ),
  aboutOne('enable', switching('enable'), 'send to it again', answering(enable)),
  aboutOne(
    'disable',
    switching('disable'),
    'send nothing more to it; what waits and what comes is set aside for a replay',
    answering(disable),
  ),
  aboutOne(
    'delete',
    operations.deleteWebhook,
    'delete it and all that was kept of it',
    answering(remove),
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
async function add(deps: Guarded, url: string, options: Options) {
  const named = options.events?.split(',').map((event) => event.replace(/^(?!email\.)/, 'email.'))
  const { events = webhookEvents } = givenTo(operations.createWebhook, { url, events: named })
  const doubt = await judgeTarget(deps, url)
  if (doubt !== undefined) warn(doubt)
  const { id } = await deps.account()
  const hints = { plan_limit_exceeded: "'posthorn plan list' shows which plans have them" }
  const added = await withHints(hints, () =>
    addEndpoint(withKey(deps), plansOf(deps.place), id, { url, events }),
  )
  const { secret } = added
  return {
    json: { ...(await shownWebhook(deps.store.read, added)), secret },
    say() {
      say(secret)
      remark(`Endpoint ${added.id} is made; the line above is its secret. ${keep}`)
    },
  }
}

/** The endpoints, with their events unless they get all. */
async function list({ store: { read }, account }: CommandDeps) {
  const json = await webhooksAnswer(read, (await account()).id)
  return {
    json,
    say: () =>
      sayTable(
        ['ID', 'URL', 'STATE', 'EVENTS'],
        json.webhooks.map(({ id, url, enabled, events }) => [
          id,
          url,
          enabled ? 'enabled' : 'disabled',
          events.length === webhookEvents.length ? 'all' : eventsShown(events.map(short)),
        ]),
        "No webhook yet; 'posthorn webhook add URL' adds one",
      ),
  }
}

/** One endpoint. Its secret is shown only where it is made. */
async function show(deps: CommandDeps, id: string) {
  const found = await endpointOf(deps, id)
  const json = await shownWebhook(deps.store.read, found)
  return {
    json,
    say: () =>
      sayFields({
        Id: found.id,
        URL: found.url,
        State: found.enabled
          ? 'enabled'
          : `disabled ${shownTime(found.disabledAt)}: ${found.disabledBecause}`,
        Events: eventsShown(found.events),
        'Failed in a row': `${found.failures}${found.failingSince === null ? '' : ` since ${shownTime(found.failingSince)}`}`,
        'Did not arrive': String(json.notArrived),
        'Not kept': String(found.eventsNotKept),
        'Old secret until': shownTime(found.oldSecretUntil),
        Created: shownTime(found.createdAt),
      }),
  }
}

/**
 * Sent by this command and not by the appliance, with the same guard for addresses and the same
 * signature.
 */
async function test(deps: Guarded, id: string) {
  const { id: accountId } = await deps.account()
  const { signal } = new AbortController()
  const of = { ...withKey(deps), read: deps.store.read, signal }
  const json = triedWebhook(await withHints(unknownHint, () => tryEndpoint(of, accountId, id)))
  const { taken, status, tookMs, error, response } = json
  if (!taken) process.exitCode = 1
  return {
    json,
    say() {
      say(taken ? `Taken: HTTP ${status} after ${tookMs} ms` : `Not taken: ${error}`)
      if (response) sayText(response)
    },
  }
}

/**
 * During the overlap both secrets sign, so that no event is refused while receivers learn the new
 * one.
 */
async function rotate(deps: CommandDeps, id: string, options: Options & AskOptions) {
  const { overlap } = options
  const found = await endpointOf(deps, id)
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
  if (!(await confirmed(deps.place, options, intent))) return
  const { id: accountId } = await deps.account()
  const made = await rotateSecret(withKey(deps), accountId, id, overlap)
  const { secret, oldSecretUntil } = made
  return {
    json: rotatedWebhook(id, secret, oldSecretUntil),
    say() {
      say(secret)
      const old =
        oldSecretUntil === null ? 'is void' : `signs too until ${shownTime(oldSecretUntil)}`
      remark(`The secret before it ${old}. ${keep}`)
    },
  }
}

/** Deliveries that were set aside stay so; the command offers a replay, which sends them. */
async function enable(deps: CommandDeps, id: string) {
  const { account, json } = await change(deps, id, true)
  return {
    json,
    say() {
      say(`Webhook ${id} is enabled`)
      if (json.notArrived === 0) return
      remark(
        `${counted(json.notArrived, 'event is', 'events are')} kept that did not arrive. To send what is kept:\n  posthorn webhook replay ${id.toLowerCase()} --failed --account ${account}`,
      )
    },
  }
}

/**
 * By the operator's order; the appliance itself disables an endpoint after a day of failing and 30
 * events.
 */
async function disable(deps: CommandDeps, id: string) {
  const { json } = await change(deps, id, false)
  return { json, say: () => say(`Webhook ${id} is disabled`) }
}

/** Deliveries that wait for it are lost, and the question tells how many. */
async function remove(deps: CommandDeps, id: string, options: AskOptions) {
  const found = await endpointOf(deps, id)
  const requests = await countRequests(deps.store.read, found.id)
  const intent: Intent = {
    to: `delete the webhook ${found.url}`,
    facts: [
      `Requests that wait and are then not sent: ${requests.waiting}`,
      `Requests that are deleted from the log, so that they cannot be replayed: ${requests.kept}`,
    ],
    counts: { id: found.id, url: found.url, ...requests },
    how: 'moderate',
  }
  if (!(await confirmed(deps.place, options, intent))) return
  await deleteEndpoint(deps, (await deps.account()).id, id)
  return { json: deletedWebhook(id), say: () => say(`Webhook ${id} is deleted`) }
}

/** The endpoint of the chosen account. */
async function endpointOf({ store: { read }, account }: CommandDeps, id: string) {
  const { id: accountId } = await account()
  return await withHints(unknownHint, () => findEndpoint(read, accountId, id))
}

/** Enables or disables an endpoint of the chosen account; resolves with the account's id and the changed endpoint. */
async function change(deps: CommandDeps, id: string, enabled: boolean) {
  const { id: account } = await deps.account()
  const changed = await withHints(unknownHint, () => updateEndpoint(deps, account, id, { enabled }))
  return { account, json: await shownWebhook(deps.store.read, changed) }
}

/** Secrets are sealed with the appliance key. */
const withKey = <Deps extends CommandDeps>(deps: Deps) => ({
  ...deps,
  key: openApplianceKey(applianceKeyFile(deps.place.dataDir)),
})

/**
 * Where webhooks may go: never to addresses that are not public, unless `webhooks.allow` has them.
 */
function guardOf(place: CommandPlace) {
  const { dns, webhooks } = settingsOf(place)
  return { resolver: openResolver(dns, systemClock), allow: webhooks.allow }
}

type Guarded = CommandDeps & ReturnType<typeof guardOf>

const unknownHint = { not_found: "'posthorn webhook list' shows those of the account" }

/** `bounced` for `email.bounced`. */
const short = (event: string) => event.replace('email.', '')

/** A fault must have written an endpoint without events, which gets none. */
const eventsShown = (events: readonly string[]) =>
  events.length === 0 ? 'damaged: delete it and add it again' : events.join(', ')
