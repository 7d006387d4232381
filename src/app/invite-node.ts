import { readFileSync } from 'node:fs'
import type { Clock } from '../clock/index.js'
import { type Config, databaseAt, settings, settingsInForce } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { inviteMs, keepInvite, makeInviteCode } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import { bundleOf } from './node-bundle.js'

/** What an appliance, or a command beside it, needs to know to invite a further machine. */
export interface InvitePlace {
  config: Config
  dataDir: string
  configFile?: string | undefined
}

/** What is shown of an invitation, once. */
export interface NodeInvitation {
  code: string
  /** Until when it is valid. */
  until: number
  /** Settings that the new machine has to make for itself. */
  left: readonly string[]
  /** Variables of this process's environment, whose settings are not handed on. */
  notHandedOn: readonly string[]
}

/** Where a machine may ask, without a path; undefined for a text that is no such address. */
export function invitingOrigin(text: string): string | undefined {
  try {
    const { origin, protocol } = new URL(text)
    return protocol === 'http:' || protocol === 'https:' ? origin : undefined
  } catch {
    return undefined
  }
}

/** Throws an OperatorError where no other machine could be a node beside this one. */
export function requireNodes({ config, dataDir }: Omit<InvitePlace, 'configFile'>): string {
  const { url } = databaseAt(dataDir, config.store)
  if (url === undefined)
    throw new OperatorError(
      "The database is a file, which one appliance alone has: 'posthorn database copy' brings it to a PostgreSQL",
    )
  if (!config.node.join)
    throw new OperatorError(
      'node.join is false, so this appliance is to be alone: set it to true, restart, and invite then',
    )
  return url
}

/**
 * Reads what a further machine needs, and returns a function that keeps it for the machine that has the code. The two
 * are apart because a command reads before it becomes the data directory's owner.
 */
export function prepareInvitation(place: InvitePlace, at: string) {
  const { config, dataDir, configFile: file } = place
  const storeUrl = requireNodes(place)
  // Only root may be able to read the settings.
  const text = file === undefined ? '' : readFileSync(file, 'utf8')
  return async ({
    store,
    clock,
  }: {
    store: Pick<Store, 'write'>
    clock: Clock
  }): Promise<NodeInvitation> => {
    const invite = makeInviteCode(at)
    const bundle = bundleOf(dataDir, { settings: text, file: file ?? '', storeUrl })
    await store.write((tx) => keepInvite(tx, invite, JSON.stringify(bundle)))
    return {
      code: invite.code,
      until: clock.now() + inviteMs,
      left: bundle.left,
      notHandedOn: variablesOf(config, file),
    }
  }
}

/** Invites a node as the operator's page does. */
export async function inviteNode(
  { store, clock, ...place }: InvitePlace & { store: Pick<Store, 'write'>; clock: Clock },
  given: string,
): Promise<NodeInvitation> {
  requireNodes(place)
  const at = invitingOrigin(given)
  if (at === undefined)
    throw new OperatorError('Give an address such as http://10.0.0.1:8080, without a path')
  return await prepareInvitation(place, at)({ store, clock })
}

/** Handed on in the bundle itself: the database with its password, wherever these were set, and that the node joins. */
const handedOn = ['store.url', 'store.password_file', 'node.join', 'node.name']

function variablesOf(config: Config, file: string | undefined): string[] {
  const source = { env: process.env, ...(file === undefined ? {} : { file }) }
  return settingsInForce(settings, config, source).flatMap(({ name, variable }) =>
    variable === undefined || handedOn.includes(name) ? [] : [variable],
  )
}
