import { timingSafeEqual } from 'node:crypto'
import { type ApplianceKey, makeMac } from '../config/index.js'

/** Whose link it is. */
export interface Recipient {
  accountId: string
  /** As the mail is addressed. */
  address: string
  /** The mail that the link stands in. */
  emailId?: string | undefined
}

/** Whoever leaves, and what: a topic, or without one all marketing mail of the account. */
export interface UnsubscribeTarget extends Recipient {
  topicId?: string | undefined
}

/** Makes links, and reads those that come back. */
export interface Links<Target extends Recipient> {
  url(target: Target): string
  /** The target of a token that was made here for this purpose; undefined for any other token. */
  read(token: string): Target | undefined
}
export type UnsubscribeLinks = Links<UnsubscribeTarget>
export type PreferenceLinks = Links<Recipient>

/*
 * A token: version (1) ‖ account (16) ‖ topic (16, in versions 2 and 4) ‖ mail (16, in 3 and 4) ‖
 * address (UTF-8) ‖ MAC (12), in base64url: at most 420 characters, as an address has at most 254
 * octets (RFC 5321 §4.5.3.1.3). Links of versions 1 and 2 stand in mails that were sent long ago.
 */
const firstVersion = 1
const withTopic = 1
const withMail = 2
const idBytes = 16
// RFC 2104 §5: at least 80 bits. An attacker can only guess over the network, one request for each try.
const macBytes = 12
const maxTokenLength = 420
// Three ids and an address, each character of which may take four bytes.
const maxBodyBytes = 1_200

/** Links never expire: CAN-SPAM asks for 30 days, and people keep mails for years. */
export const makeUnsubscribeLinks = (key: ApplianceKey, publicUrl: string): UnsubscribeLinks =>
  makeLinks(key, publicUrl, 'unsubscribe')

/** Links to the preference centre; they never expire either. */
export const makePreferenceLinks = (key: ApplianceKey, publicUrl: string): PreferenceLinks =>
  makeLinks(key, publicUrl, 'preferences')

/** Links to the mail itself, in a browser; they never expire either. */
export const makeViewLinks = (key: ApplianceKey, publicUrl: string): Links<Recipient> =>
  makeLinks(key, publicUrl, 'view')

/** The token of links in copies for others than the recipient; it is too short to be one that acts. */
export const shownToken = 'shown'

/** Links that look like those of `makeUnsubscribeLinks` and `makePreferenceLinks`; they act for nobody. */
export const shownLinks = (publicUrl: string) => ({
  unsubscribe: { url: () => `${publicUrl}/unsubscribe/${shownToken}` },
  preferences: { url: () => `${publicUrl}/preferences/${shownToken}` },
  view: { url: () => `${publicUrl}/view/${shownToken}` },
})

/** `purpose` is the path, and has its own MAC key: no link works on the other page. */
function makeLinks(
  key: ApplianceKey,
  publicUrl: string,
  purpose: 'unsubscribe' | 'preferences' | 'view',
): Links<UnsubscribeTarget> {
  // Older keys count too: people still have mails with links from before a rotation.
  const macs = key.deriveAll(purpose).map((one) => makeMac(one, maxBodyBytes))
  /** The next call overwrites the returned bytes. */
  const mac = (body: Buffer) => (macs[0]?.(body) ?? body).subarray(0, macBytes)
  const isSigned = (body: Buffer, given: Buffer) =>
    macs.some((of) => timingSafeEqual(of(body).subarray(0, macBytes), given))
  return {
    url({ accountId, address, topicId, emailId }) {
      const body = Buffer.concat([
        Buffer.from([firstVersion + (topicId ? withTopic : 0) + (emailId ? withMail : 0)]),
        idToBytes(accountId),
        ...(topicId === undefined ? [] : [idToBytes(topicId)]),
        ...(emailId === undefined ? [] : [idToBytes(emailId)]),
        Buffer.from(address),
      ])
      const token = Buffer.concat([body, mac(body)]).toString('base64url')
      return `${publicUrl}/${purpose}/${token}`
    },
    read(token) {
      if (token.length > maxTokenLength) return undefined
      const bytes = Buffer.from(token, 'base64url')
      // Decoding ignores what is not base64url. This check leaves each token only one spelling.
      if (bytes.toString('base64url') !== token || bytes.length <= macBytes) return undefined
      const body = bytes.subarray(0, -macBytes)
      return isSigned(body, bytes.subarray(-macBytes)) ? targetOf(body) : undefined
    },
  }
}

/** What a body with a right MAC says; undefined for a version that does not exist yet. */
function targetOf(body: Buffer): UnsubscribeTarget | undefined {
  const parts = (body[0] ?? 0) - firstVersion
  if (parts < 0 || parts > withTopic + withMail) return undefined
  let at = 1
  const nextId = () => {
    at += idBytes
    return idFromBytes(body.subarray(at - idBytes, at))
  }
  const accountId = nextId()
  const topic = parts & withTopic ? { topicId: nextId() } : {}
  const mail = parts & withMail ? { emailId: nextId() } : {}
  return { accountId, ...topic, ...mail, address: body.toString('utf8', at) }
}

/** A UUID in its 16 bytes. */
function idToBytes(id: string): Buffer {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
  if (bytes.length !== idBytes) throw new Error(`${id} is no UUID`)
  return bytes
}

/** The UUID of 16 bytes. */
const idFromBytes = (bytes: Buffer) =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
