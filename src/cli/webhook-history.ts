import { Argument, type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import * as operations from '../webhooks/contract.js'
import { deliveriesAnswer, deliveryPage, replay } from '../webhooks/index.js'
import { answering, type CommandDeps } from './answering.js'
import type { CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { withHints } from './limits.js'
import { count, limitOption } from './option-values.js'
import { say, sayTable, shownTime } from './output.js'

/** Options of both sub-commands. */
interface Options {
  failed?: true
  limit: number
  to?: number
}

const exampleId = '019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11'

/** What went to an endpoint, and how to send it again. */
export const webhookHistoryRows: readonly CommandRow[] = [
  {
    usage: 'deliveries <id>',
    does: operations.listWebhookDeliveries,
    about: 'show what waits for an endpoint and what went there, the newest first',
    options: [accountOption(), new Option('--failed', 'only what did not arrive'), limitOption()],
    help: `Example:\n  $ posthorn webhook deliveries ${exampleId} --failed --json | jq -r '.deliveries[0].response'`,
    run: answering(deliveries),
  },
  {
    usage: 'replay <id>',
    does: operations.replayWebhookDeliveries,
    about: 'send a delivery again, the same bytes; a range of them; or all that did not arrive',
    values: [new Argument('[delivery]', 'its number; more of them by --to').argParser(count)],
    options: [
      accountOption(),
      new Option('--failed', 'all that failed or was set aside; with --to only of these'),
      new Option('--to <delivery>', 'those up to this one too').argParser(count),
    ],
    help: `What waits for its next attempt goes out by itself and is not queued again: 'posthorn webhook deliveries' shows it.\n\nExample:\n  $ posthorn webhook replay ${exampleId} 4711\n  $ posthorn webhook replay ${exampleId} 4711 --to 4720\n  $ posthorn webhook replay ${exampleId} --failed`,
    run: answering(again),
  },
]

/** What waits and what has ended, in one list. */
async function deliveries(
  { store: { read }, account }: CommandDeps,
  id: string,
  { failed, limit }: Options,
) {
  const { id: accountId } = await account()
  const found = await withHints(
    { not_found: "'posthorn webhook list' shows those of the account" },
    () => deliveryPage(read, accountId, id, { failed, limit }),
  )
  return {
    json: deliveriesAnswer(found),
    say: () =>
      sayTable(
        ['DELIVERY', 'EVENT', 'EMAIL', 'STATE', 'ATTEMPTS', 'WHEN', 'ANSWER'],
        found.page.map(({ id: number, event, emailId, outcome, attempts, at, status, error }) => [
          String(number),
          event,
          emailId,
          outcome,
          String(attempts),
          shownTime(at),
          error ?? (status === null ? '-' : `HTTP ${status}`),
        ]),
        failed === true ? 'Nothing has failed' : 'Nothing went there yet',
      ),
  }
}

/** Queues the same bytes again; the running appliance sends them. */
async function again(
  { store, clock, account }: CommandDeps,
  id: string,
  delivery: number | undefined,
  options: Options,
  command: Command,
) {
  const which = whichIn(delivery, options)
  if (which === undefined) command.error('error: name one delivery, or choose --failed')
  const { id: accountId } = await account()
  const hints = {
    not_found: `'posthorn webhook list' and 'posthorn webhook deliveries' show them`,
    conflict: `first: posthorn webhook enable ${id}`,
  }
  const now = () => clock.now()
  const queued = await withHints(hints, () => replay({ store, now }, accountId, id, which))
  return {
    json: { queued },
    say: () => say(`${counted(queued, 'webhook is', 'webhooks are')} queued again`),
  }
}

/** Which deliveries are meant; undefined if nothing is named, or two choices that exclude each other. */
function whichIn(from: number | undefined, { failed, to }: Options) {
  if (from === undefined) return failed && to === undefined ? 'failed' : undefined
  if (to === undefined) return failed ? undefined : from
  return { from, to, failedOnly: failed === true }
}
