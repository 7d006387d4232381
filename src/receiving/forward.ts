import { createHmac, timingSafeEqual } from 'node:crypto'
import { keepNewest } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { makeContent } from '../contents/index.js'
import type { StreamDue } from '../deliveries/index.js'
import { signingKeys } from '../domains/index.js'
import { type InsertDeps, insertOwnMail } from '../emails/index.js'
import { dateField } from '../mime/index.js'
import type { Store, Tx } from '../store/index.js'
import { bodyStart, type ReadableRow } from './arrive.js'
import { headerWithout, isOwnResult } from './header.js'
import { whyNotInOurName } from './in-our-name.js'
import type { ReadMail } from './read-mail.js'
import { type SealingDomain, sealOf } from './seal.js'

/** What forwarding needs. */
interface SendingOnDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  retry: InsertDeps['retry']
  /** This appliance's name, and its other names, one of which the return path may have. */
  mta: string
  hosts: readonly string[]
}

/** A mail that is ready to be forwarded, or why it is not. */
export type Forwarding =
  | { fault: string }
  | { fault?: undefined; post(tx: Tx): Promise<{ id: string; due: StreamDue[] }> }

/**
 * The field that tells from where a mail was forwarded. Its value is signed, so that no stranger can stop a mail with
 * it.
 */
const loopField = 'X-Posthorn-Loop'
// People who forward to each other on purpose do so once or twice.
const mostHops = 5
const keysForMs = 60_000
const mostKeys = 1_000

/**
 * Makes mails that forward received ones. The return path is ours, so that no SPF record of the sender's host is asked.
 * The domain where the mail came in seals its original bytes (RFC 8617). It is the appliance's own mail: its result
 * counts for no account's rates.
 */
export function makeForwarder(deps: SendingOnDeps) {
  const { store, clock, mta } = deps
  const tokens = makeTokens(deps.key)
  const keys = makeKeys(deps)

  return {
    /** Whether the mail was forwarded from this address before. */
    wasHere: (row: Pick<ReadableRow, 'recipient'>, { headers }: Pick<ReadMail, 'headers'>) =>
      headers.some(
        ({ name, value }) =>
          (isNamed(name, loopField) && tokens.isOf(value, row.recipient)) ||
          (isNamed(name, 'Delivered-To') && value.toLowerCase() === row.recipient),
      ),

    /** `raw` is the mail as it came. */
    async prepare(row: ReadableRow, raw: Buffer, read: ReadMail): Promise<Forwarding> {
      const to = row.forward_to ?? ''
      if (row.is_loop === 1) return { fault: 'It has been sent on from here before' }
      const hops = read.headers.filter(({ name }) => isNamed(name, loopField)).length
      if (hops >= mostHops) return { fault: `It has been sent on ${hops} times already` }
      const domain = await keys(row.domain_id)
      if (domain === undefined) return { fault: 'The domain at which it came in is gone' }
      const bodyAt = bodyStart(raw)
      const came = raw.subarray(0, bodyAt - 2)
      const why = await whyNotInOurName(came, read, [domain.name, ...deps.hosts])
      if (why !== undefined) return { fault: why }
      const id = store.ids.uuid()
      // RFC 8601 §5: removes results in our own name that are not ours. RFC 5322 §3.6.3: nobody may see Bcc.
      const kept = headerWithout(
        came,
        (field) => isNamed(field.name, 'Bcc') || isOwnResult(field, mta),
      )
      const whole =
        kept.length === came.length ? raw : Buffer.concat([kept, raw.subarray(bodyAt - 2)])
      const seal = await sealOf(whole, read, domain, clock.now())
      const header = Buffer.concat([
        Buffer.from(seal + traceOf(row, { mta, token: tokens.of(row.recipient) }), 'latin1'),
        kept,
      ])
      const mail = {
        id,
        domainId: row.domain_id,
        // This goes into the appliance's log, which must not show who has written to an account.
        from: row.recipient,
        to,
        subject: row.subject,
        messageId: `<${id}@${domain.name}>`,
        raw: {
          messageId: read.messageId || `<${id}@${domain.name}>`,
          header,
          body: makeContent([raw.subarray(bodyAt)]),
          bodyHash: read.bodyHash,
          eightBit: read.eightBit,
          smtpUtf8: read.smtpUtf8,
          parts: null,
        },
      }
      return {
        async post(tx) {
          const due = await insertOwnMail(deps, tx, { ...mail, now: clock.now() })
          return { id, due: due ?? [] }
        },
      }
    },
  }
}

const isNamed = (given: string, name: string) => given.toLowerCase() === name.toLowerCase()

/** RFC 5321 §4.4: the trace that a server adds to a mail that it takes; and where the mail was forwarded from. */
function traceOf(row: ReadableRow, { mta, token }: { mta: string; token: string }): string {
  const helo = row.helo.replace(/[^\w.:[\]-]+/g, '').slice(0, 255) || 'unknown'
  return [
    `Received: from ${helo} ([${row.remote_address}])`,
    ` by ${mta} with ESMTP id ${row.id}`,
    ` for <${row.recipient}>; ${dateField('Date', row.received_at).slice('Date: '.length).trim()}`,
    `${loopField}: ${token}`,
    `Delivered-To: ${row.recipient}`,
    '',
  ].join('\r\n')
}

/** The RSA key of a domain in PEM, as mailauth takes it, remembered for a minute. */
function makeKeys({ store, clock, key }: Pick<SendingOnDeps, 'store' | 'clock' | 'key'>) {
  const known = new Map<string, { at: number; found: SealingDomain | undefined }>()
  return async (domainId: string): Promise<SealingDomain | undefined> => {
    const last = known.get(domainId)
    if (last !== undefined && isRecent(last.at, clock.now(), keysForMs)) return last.found
    const domain = await signingKeys(store.read, key, domainId)
    const rsa = domain?.keys.find(({ algorithm }) => algorithm === 'rsa-sha256')
    const found = rsa && {
      name: rsa.domain,
      selector: rsa.selector,
      privateKey: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    }
    keepNewest(known, domainId, { at: clock.now(), found }, mostKeys)
    return found
  }
}

/** The keys from before a rotation count too: a mail may go round for days. */
function makeTokens(key: ApplianceKey) {
  const all = key.deriveAll('forwarded mail')
  const tokenBy = (one: Buffer, recipient: string) =>
    createHmac('sha256', one).update(recipient).digest().subarray(0, 18)
  return {
    of: (recipient: string) =>
      tokenBy(key.derive('forwarded mail'), recipient).toString('base64url'),
    isOf(given: string, recipient: string): boolean {
      const bytes = Buffer.from(given, 'base64url')
      return all.some((one) => {
        const own = tokenBy(one, recipient)
        return bytes.length === own.length && timingSafeEqual(bytes, own)
      })
    },
  }
}
