import { isAscii } from 'node:buffer'
import { keepNewest } from '../../bounded/index.js'
import { type Clock, isRecent } from '../../clock/index.js'
import { attachmentsOf } from '../../contents/index.js'
import type { ReturnPaths } from '../../deliveries/index.js'
import type { DkimKey } from '../../dkim/index.js'
import { type Signer, signMessageAsync, type ToSign } from '../../dkim/index.js'
import { signingKeyIds, signingKeys } from '../../domains/index.js'
import {
  type ComposedMessage,
  composeMessage,
  encloseMessage,
  structuredField,
} from '../../mime/index.js'
import { finalDot, type MessageToSend } from '../../smtp/index.js'
import type { OutboundDeps } from '../deps.js'
import { blankLine, makeAttached, sum } from './attached.js'
import { MailFault } from './campaign-content.js'
import {
  type ContentDeps,
  inputOf,
  makeMailContent,
  type RecipientCopy,
  senderOf,
} from './mail-content.js'
import { makeSubmitted } from './submitted.js'

/** A message ready for the wire, and what the envelope has to know. */
export interface SignedMessage {
  message: MessageToSend
  /** How many bytes of the message are held until it is sent: all but attachments. */
  heldBytes: number
  smtpUtf8: boolean
  /** Where bounces go: at the domain's own return path host, or at the appliance's. */
  returnPath: string
}

/** The message of an email as the recipient of this delivery gets it. */
export type Composer = (delivery: RecipientCopy) => Promise<SignedMessage>

/** A domain's DKIM keys, unsealed, and its own host for bounces. */
interface Signing {
  keys: DkimKey[]
  ids: string[]
  returnPathHost: string | undefined
}

// How long unsealed keys are kept: long enough to unseal a key once for thousands of mails.
const signingTtlMs = 60_000
// How often it is asked whether the keys are still these: a key that has leaked stops signing within a second.
const sameKeysMs = 1_000
const maxCachedDomains = 1_000

interface CachedSigning {
  signing: Promise<Signing | undefined>
  /** When the keys were unsealed, and when it was last asked whether they are still the same. */
  at: number
  askedAt: number
}

/** Composes and signs. The same mail gets the same bytes on every attempt but for the signatures' time. */
export function makeComposer(
  deps: ContentDeps & Pick<OutboundDeps, 'config'>,
  returnPaths: ReturnPaths,
  signer: Pick<Signer, 'sign'>,
): Composer {
  const { find, plainContentFor, decorate } = makeMailContent(deps)
  const attached = makeAttached(deps.store.read)
  const submitted = makeSubmitted(deps.store.read)
  const cached = new Map<string, CachedSigning>()

  const signing = (domainId: string): Promise<Signing | undefined> => {
    const now = deps.clock.now()
    const known = cached.get(domainId)
    if (known !== undefined && isRecent(known.askedAt, now, sameKeysMs)) return known.signing
    const isOld = known === undefined || !isRecent(known.at, now, signingTtlMs)
    // The keys are found once for hundreds of mails that begin at the same moment.
    const found = isOld ? anew(domainId) : unlessOthers(domainId, known.signing)
    const at = isOld ? now : known.at
    keepNewest(cached, domainId, { signing: found, at, askedAt: now }, maxCachedDomains)
    found.catch(() => cached.delete(domainId))
    return found
  }
  const anew = (domainId: string) => signingKeys(deps.store.read, deps.key, domainId)
  /** The signing as before, or a new one where other keys sign now. */
  const unlessOthers = async (domainId: string, before: Promise<Signing | undefined>) => {
    const known = await before
    const ids = await signingKeyIds(deps.store.read, { domainId })
    const isSame = known?.ids.length === ids.length && ids.every(({ id }, i) => id === known.ids[i])
    return isSame ? known : await anew(domainId)
  }

  /**
   * Everything that is needed before signing. It is a function of its own so that the content is not held in memory
   * during the signing.
   */
  const draft = async ({ id, emailId, recipient }: RecipientCopy) => {
    const email = await find(emailId)
    const from = senderOf(email.from_header)
    const copy = { recipient, deliveryId: id, domain: from.domain }
    const signs = await signing(email.domain_id)
    if (signs === undefined) throw new MailFault(`The sending domain ${from.domain} was deleted`)
    const { keys, returnPathHost } = signs
    const { returnPath, complaints } = returnOf(id, returnPathHost, { returnPaths, ...deps })
    const sign = signingWith(keys, deps.clock, signer)
    const raw = email.body_id === null ? await submitted.find(email.id) : undefined
    if (raw !== undefined) {
      const firstField = structuredField(complaints.name, complaints.value)
      const decorated = (content: { html: string; text: string }) => decorate(email, copy, content)
      const finish = () => submitted.compose(raw, decorated, { sign, firstField })
      return { returnPath, finish }
    }
    const content = await plainContentFor(email, recipient)
    const decorated = await decorate(email, copy, content)
    const extraHeaders = [complaints, ...decorated.extraHeaders]
    const input = inputOf(email, { ...decorated, extraHeaders })
    if (email.attachments !== null) {
      const attachments = attachmentsOf(email.attachments)
      if (attachments === undefined) throw new Error('The list of its attachments is damaged')
      return { returnPath, finish: () => attached.compose(input, attachments, sign) }
    }
    return { returnPath, finish: finishing(composeMessage(input), sign) }
  }

  return async (copy) => {
    const { returnPath, finish } = await draft(copy)
    return { returnPath, ...(await finish()) }
  }
}

type Sign = (message: ToSign) => Promise<Buffer>

const signingWith =
  (keys: DkimKey[], clock: Clock, signer: Pick<Signer, 'sign'>): Sign =>
  (message) =>
    signMessageAsync(message, keys, { timeSeconds: Math.floor(clock.now() / 1000) }, signer)

/** Signs a composed message. It closes over nothing that the message was composed from. */
const finishing = (composed: ComposedMessage, sign: Sign) => async () =>
  signedMessage(composed, await sign(composed))

/** A composed message after its signatures, as it goes over the wire, unless its dots have to be doubled. */
function signedMessage(composed: ComposedMessage, signatures: Buffer) {
  const { header, body, smtpUtf8, isDotted, memory } = composed
  if (isDotted) {
    const message = [signatures, header, blankLine, body]
    return { message, heldBytes: sum(message), smtpUtf8 }
  }
  const written = encloseMessage(composed, signatures, finalDot)
  const sizeBytes = written.length - finalDot.length
  const message = { written, sizeBytes, eightBit: !isAscii(written) }
  return { message, heldBytes: memory.length, smtpUtf8 }
}

/** Where bounces and complaints about a copy go. */
export function returnOf(
  deliveryId: number,
  domainsOwn: string | undefined,
  { config, returnPaths }: Pick<OutboundDeps, 'config'> & { returnPaths: ReturnPaths },
) {
  const host = domainsOwn ?? (config.returnPathHost || config.heloName)
  const returnPath = returnPaths.addressOf(deliveryId, host)
  // RFC 9477: complaints come to the return path. A reporter who knows it has got this very copy.
  return { returnPath, complaints: { name: 'CFBL-Address', value: `${returnPath}; report=arf` } }
}
