import { once } from 'node:events'
import type { Command } from 'commander'
import { systemClock } from '../clock/index.js'
import * as operations from '../erasure/contract.js'
import {
  downloadAnswer,
  downloadOf,
  erasedSays,
  erasureAnswer,
  makeErasures,
  stays,
  whatIsStored,
  wholeAddress,
} from '../erasure/index.js'
import { OperatorError } from '../errors/index.js'
import { silentLog } from '../log/index.js'
import { answering, type CommandDeps } from './answering.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { say, sayFields, sayJson, shownTime } from './output.js'
import { placeOf } from './place.js'

/** Somebody's data (GDPR Art. 15, 17, 20): whoever it is, a contact or not. */
export const contactDataRows: readonly CommandRow[] = [
  {
    usage: 'download <email>',
    does: operations.downloadPerson,
    about:
      'write all that is known of an address to stdout, as a ZIP with a page to read, JSON and CSV',
    options: [accountOption()],
    help: `Example:
  $ posthorn contact download ada@example.com > ada.zip

Also of somebody who is no contact: mails to them, suppressions and consent count too.`,
    run: download,
  },
  {
    usage: 'erase <email>',
    does: operations.erasePerson,
    about: 'erase an address for good, whether or not it is a contact; it is never mailed again',
    options: [...askOptions(), accountOption()],
    help: `Example:
  $ posthorn contact erase ada@example.com

Nothing more is sent at once. The running appliance does the rest within minutes, or when it is started next;
'posthorn contact erasure ID' shows how far it is and what stays.`,
    run: answering(erase),
  },
  {
    usage: 'erasure <id>',
    does: operations.getErasure,
    about: 'show how far an erasure is, and what stays until when',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn contact erasure 12',
    run: answering(erasure),
  },
]

// The ZIP has all of them.
const mostMails = 100

/** With --json: the first page of the API's answer. */
async function download(
  email: string,
  options: { account?: string },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { stdout } = process
  if (!place.json && stdout.isTTY) {
    const advice = 'write it to a file: … > person.zip'
    throw new OperatorError('A ZIP is nothing for a terminal', { advice })
  }
  await withStore(place, async ({ store }) => {
    const { id } = await chosenAccount(store.read, options.account)
    const address = wholeAddress(email)
    // A command's first write notes it in the audit log, which must name whoever took somebody's
    // data.
    await store.write(async () => {})
    if (place.json) {
      const { next, ...found } = await downloadAnswer(store.read, id, address, { limit: mostMails })
      sayJson({ ...found, hasMore: next !== undefined, nextCursor: null })
      return
    }
    const stored = await whatIsStored(store.read, id, address)
    if (stored !== 'something') {
      const says = stored === 'hash' ? erasedSays : 'Nothing is stored about this address.'
      throw new OperatorError(`${address}: ${says}`)
    }
    for await (const bytes of downloadOf(store.read, id, address, systemClock.now())) {
      // The bytes may not fit into memory, so their reader sets the pace.
      if (!stdout.write(bytes)) await once(stdout, 'drain')
    }
  })
}

async function erase(deps: CommandDeps, email: string, options: AskOptions) {
  const { id: accountId } = await deps.account()
  const address = wholeAddress(email)
  const intent = {
    to: `erase all that is known of ${address} for good`,
    facts: [
      'The contact goes, mail that waits for them is cancelled, and the address is replaced in the log of mails, webhooks and the audit log',
      'A keyed hash stays, so that nobody mails them again',
      ...stays.slice(1).map(({ what, until }) => `${what}: until ${until}`),
    ],
    counts: { address },
    how: { typed: address },
  }
  if (!(await confirmed(deps.place, options, intent))) return
  const erasures = makeErasures({ ...deps, log: silentLog })
  const begun = await erasures.begin(accountId, address, 'command')
  await erasures.close()
  const json = await erasureAnswer(deps.store.read, accountId, begun.id)
  return {
    json,
    say: () =>
      say(
        json.state === 'done'
          ? `It is erased: ${json.name} stands in its place.`
          : `Nothing more is sent. The appliance erases it as ${begun.id}: 'posthorn contact erasure ${begun.id}' shows how far it is.`,
      ),
  }
}

async function erasure({ store: { read }, account }: CommandDeps, id: string) {
  if (!/^\d{1,15}$/.test(id)) throw new OperatorError(`"${id}" is not the number of an erasure`)
  const json = await erasureAnswer(read, (await account()).id, Number(id))
  return {
    json,
    say() {
      sayFields({
        State: json.state,
        'In its place': json.name,
        Mails: String(json.mails),
        'Mails that wait for other recipients': String(json.waiting),
        Reason: json.reason ?? '',
        Begun: shownTime(Date.parse(json.begunAt)),
        Ended: json.endedAt === null ? '' : shownTime(Date.parse(json.endedAt)),
      })
      say()
      say('What stays:')
      for (const { what, until } of json.stays) say(`  ${what}: until ${until}`)
    },
  }
}
