import { noteAudit } from '../audit/index.js'
import type { Clock } from '../clock/index.js'
import { faultOfNodeName } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Pages } from '../http/index.js'
import { isJsonObject } from '../json/index.js'
import type { Store } from '../store/index.js'
import { isInvited, joinPath, takeInvite } from './invite.js'

/**
 * Hands out what `posthorn node invite` kept, once, to the client with its code. Every other request gets the same
 * answer, so that nobody learns which codes exist or existed. The answer is sealed with the code, so TLS would add
 * nothing.
 */
export function invitePages(pages: Pages, { store, clock }: { store: Store; clock: Clock }): void {
  const shape = { raw: true, crossSite: true, maxBodyBytes: 4_096, asJson: {} } as const
  pages.post(joinPath, shape, async ({ rawBody, clientAddressKey }) => {
    const { lookup, name } = readAsked(rawBody)
    // A transaction for each guess of a stranger would burden all nodes.
    if (!(await isInvited(store.read, lookup))) throw unknown()
    const sealed = await store.write(async (tx) => {
      const found = await takeInvite(tx, lookup)
      if (found === undefined) return undefined
      const actor = { kind: 'system', userId: null, name, clientAddressKey } as const
      const at = clock.now()
      await noteAudit(tx, { actor, accountId: null, action: 'node.join', target: name, at })
      return found
    })
    if (sealed === undefined) throw unknown()
    return {
      text: JSON.stringify({ sealed: sealed.toString('base64') }),
      contentType: 'application/json',
    }
  })
}

function readAsked(body: Buffer): { lookup: string; name: string } {
  let asked: unknown
  try {
    asked = JSON.parse(body.toString('utf8'))
  } catch {
    throw unknown()
  }
  if (!isJsonObject(asked)) throw unknown()
  const { lookup, name } = asked
  if (typeof lookup !== 'string' || !/^[\w-]{43}$/.test(lookup)) throw unknown()
  return {
    lookup,
    name: typeof name === 'string' && faultOfNodeName(name) === undefined ? name : '',
  }
}

const unknown = () =>
  new ApiError(
    'not_found',
    'This code is not known here: it was used, is older than an hour, or was never given',
  )
