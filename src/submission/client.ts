import {
  type CheckKey,
  findAccount,
  type Principal,
  refuseBeyondScope,
  refuseOtherDomain,
} from '../accounts/index.js'
import type { HandingKey } from '../billing/index.js'
import type { SharedCounts } from '../bounded/index.js'
import { type Clock, hourMs } from '../clock/index.js'
import type { TrustedNetwork } from '../config/index.js'
import { liesWithin } from '../dns/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import { makeQuota, Refusal } from '../smtpd/index.js'
import { isPassing, type Read } from '../store/index.js'
import { refusalOf } from './replies.js'

/** Somebody who hands mail in, and what they may do. */
export interface Client {
  accountId: string
  /** The key whose limits of an hour and a minute count, and which a notice of a surge would name. */
  by(): HandingKey | undefined
  /** What the session log shows of its key. */
  last4: string | null
  /** Its key is a test key: its mail goes to the test inbox. */
  isTest: boolean
  /** The sender of a trusted network: all its mail is from there. */
  fixedFrom: string | undefined
  /** Throws a `Refusal` when it may hand nothing in any more: the key is deleted, the rate is used up. */
  again(): Promise<void>
  /** Throws a 403 for a sender's domain that its key does not allow. */
  checkDomain(domain: string): void
  /** Throws a `Refusal` where a trusted network has used up its recipients. */
  takeRecipients(count: number): void
}

/** What is needed to identify clients. */
export interface ClientDeps {
  read: Read
  clock: Clock
  checkKey: CheckKey
  /** Counts a mail of a key; throws a 429 when it is one too many. */
  countMail(keyId: string): void
  trusted: readonly TrustedNetwork[]
  /** The counts that nodes share. */
  counts: SharedCounts | undefined
}

/** Makes clients for those who log in, and for those who need not. */
export function makeClients(deps: ClientDeps) {
  const quotas = deps.trusted.map(({ perHour }) =>
    makeQuota(deps.clock, {
      most: perHour,
      windowMs: hourMs,
      together: deps.counts?.of('submission recipients'),
    }),
  )

  return {
    /** Throws an `ApiError` for a password that is not a key, and for a key that may not send from there. */
    async byKey(password: string, address: string): Promise<Client> {
      const check = async (): Promise<Principal> => {
        const principal = await deps.checkKey(password, () => address)
        refuseBeyondScope(principal, 'sending')
        return principal
      }
      // Asked again before each mail: a deleted or expired key ends a running session.
      let principal = await check()
      return {
        accountId: principal.accountId,
        by: () => principal,
        last4: password.slice(-4),
        // As the key is at the moment of the mail.
        get isTest() {
          return principal.isTest
        },
        fixedFrom: undefined,
        async again() {
          try {
            principal = await check()
            deps.countMail(principal.keyId)
          } catch (error) {
            if (!(error instanceof ApiError)) throw error
            // A fault that passes says nothing about the key.
            if (error.code === 'rate_limit_exceeded' || isPassing(error)) throw refusalOf(error)
            throw new Refusal('421 4.7.0 The key may not send any more')
          }
        },
        checkDomain: (domain) => refuseOtherDomain(principal, domain),
        // A key's mails are counted by `again`, and the plan's limits by the acceptance.
        takeRecipients() {},
      }
    },

    /** Undefined: the address is in no trusted network. */
    async byNetwork(address: string): Promise<Client | undefined> {
      const place = deps.trusted.findIndex(({ network }) => liesWithin(address, [network]))
      const entry = deps.trusted[place]
      if (entry === undefined) return undefined
      const account = await findAccount(deps.read, entry.account).catch((error: unknown) => {
        if (!(error instanceof OperatorError)) throw error
        const message = `451 4.3.5 submission.trusted of ${entry.network} names no account; tell the operator`
        throw new Refusal(message)
      })
      return {
        accountId: account.id,
        by: () => undefined,
        last4: null,
        isTest: false,
        fixedFrom: entry.from,
        // A network needs no second look: the list does not change while the listener is open.
        async again() {},
        checkDomain() {},
        takeRecipients(count) {
          if (quotas[place]?.take(entry.network, count) !== false) return
          throw new Refusal(
            `452 4.7.1 ${entry.network} has had its ${entry.perHour} recipients of this hour`,
          )
        },
      }
    },
  }
}

/** What `makeClients` makes: the two ways to identify a client. */
export type Clients = ReturnType<typeof makeClients>
