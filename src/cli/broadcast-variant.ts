import * as operations from '../broadcasts/contract.js'
import { chooseVariant, chosenVariant } from '../broadcasts/index.js'
import { answering, type CommandDeps } from './answering.js'
import { chosenBroadcast } from './broadcast-show.js'
import type { CommandRow } from './command-row.js'
import { remark, say } from './output.js'

/** `broadcast variant`. */
export const variantBroadcastRows: readonly CommandRow[] = [
  {
    usage: 'variant <id> <key>',
    does: operations.chooseBroadcastVariant,
    about: 'choose the version that the rest of a campaign gets whose test is made',
    help: `Example:
  $ posthorn broadcast variant 01a1fc92-9915-7533-8296-04ee3d91dd72 B

'posthorn broadcast report' shows the versions and what people did with each.`,
    run: answering(choose),
  },
]

async function choose({ store, clock }: CommandDeps, id: string, key: string) {
  const found = await chosenBroadcast(store.read, id)
  // A running appliance finds the campaign by itself.
  const deps = { store, clock, expand: () => {} }
  await chooseVariant(deps, found.account_id, { id: found.id, key })
  const json = chosenVariant(found.id, key)
  return {
    json,
    say() {
      say(json.message)
      if (found.status === 'paused') remark('The campaign is paused: it goes on once it is resumed')
    },
  }
}
