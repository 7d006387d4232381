import { Argument } from 'commander'
import { readBilling } from '../billing/index.js'
import * as operations from '../broadcasts/contract.js'
import { broadcastAnswer, changeDraft } from '../broadcasts/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { chosenBroadcast } from './broadcast-show.js'
import type { CommandRow } from './command-row.js'
import { say } from './output.js'
import type { CommandPlace } from './place.js'
import { plansOf } from './plan.js'
import { withRenderer } from './template.js'

const planned = (place: CommandPlace) => ({ plans: plansOf(place) })
type Planned = CommandDeps & ReturnType<typeof planned>

/** `broadcast archive`. */
export const archiveBroadcastRows: readonly CommandRow[] = [
  {
    usage: 'archive <id>',
    values: [new Argument('<state>', 'on or off').choices(['on', 'off'])],
    does: operations.updateBroadcast,
    about: "say whether a campaign is on the account's public page of past campaigns",
    help: `Example:
  $ posthorn broadcast archive 01a1fc92-9915-7533-8296-04ee3d91dd72 on

Also after it was sent. While it is on, its recipients can look at theirs in a browser ({{ view_url }}).`,
    run: answeringWith(planned, archive),
  },
]

async function archive({ store, clock, plans }: Planned, id: string, state: 'on' | 'off') {
  const { account_id: accountId } = await chosenBroadcast(store.read, id)
  const billing = await readBilling(store.read, plans, accountId)
  // A draft keeps the files that it has, so nothing is fetched here.
  const attachments = { maxBytes: 0, maxCount: 0, fetchFile: async () => undefined as never }
  await withRenderer({ store, clock }, (renderer) => {
    const deps = { store, clock, plans, renderer, attachments, expand: () => {} }
    return changeDraft(deps, billing, id, { archive: state === 'on' })
  })
  const json = await broadcastAnswer(
    store.read,
    { accountId, id },
    { hasRoom: true, now: clock.now() },
  )
  return {
    json,
    say: () =>
      say(
        state === 'on'
          ? 'It is on the public page of past campaigns, once it is sent'
          : 'It is on no public page, and the links in its mails show nothing',
      ),
  }
}
