import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { ReceivingRuleRow } from '../store/index.js'

/** Where received mail goes. */
export const receivingActions = ['webhook', 'forward', 'store'] as const
export type ReceivingAction = (typeof receivingActions)[number]

/** Which addresses of a host a rule is about. */
export interface RulePattern {
  kind: ReceivingRuleRow['kind']
  /** Lower case; the local part, or its beginning; empty where the rule takes all. */
  local: string
  host: string
}

/** A rule of an account. */
export interface ReceivingRule {
  id: string
  accountId: string
  domainId: string
  /** `support@in.example.com`, `support+*@…`, `*@…`. */
  pattern: string
  /** Counted from 1: the first matching rule decides. */
  place: number
  action: ReceivingAction
  /** Where to forward; null for any other action. */
  forwardTo: string | null
  enabled: boolean
  /** What keeps the rule from working, as a sentence. */
  note: string | null
  createdAt: number
}

// RFC 5321 §4.5.3.1.1: a local part has 64 octets at most. A star may only end it, and stands for whatever follows.
const form = /^([a-z0-9.!#$%&'+/=?^_`{|}~-]{0,64})(\*?)@([^@*\s]{1,253})$/

/** Parses a pattern; throws a 422 for a bad one. `hostOf` makes A-labels of its host. */
export function patternIn(given: string, hostOf: (host: string) => string): RulePattern {
  const [, local = '', star = '', host = ''] = form.exec(given.trim().toLowerCase()) ?? []
  if (host === '' || (local === '' && star === '')) {
    throw new ApiError(
      'validation_error',
      `"${given.slice(0, 320)}" is no pattern: an address, or one whose local part ends in *, such as support+*@in.example.com`,
      { status: 422, fields: { field: 'pattern' } },
    )
  }
  const kind = star === '' ? 'address' : local === '' ? 'all' : 'prefix'
  return { kind, local, host: hostOf(host) }
}

/** The pattern as people write it. */
export const writtenPattern = ({ kind, local, host }: RulePattern): string =>
  `${local}${kind === 'address' ? '' : '*'}@${host}`

/** Whether a rule matches a local part, given in lower case, at its host. */
export function fitsLocal({ kind, local }: Pick<RulePattern, 'kind' | 'local'>, given: string) {
  if (kind === 'all') return true
  return kind === 'address' ? given === local : given.startsWith(local)
}

/** Whether another rule matches every address of this one. */
export function isCovered(
  { kind, local }: Pick<RulePattern, 'kind' | 'local'>,
  by: Pick<RulePattern, 'kind' | 'local'>,
): boolean {
  if (by.kind === 'all') return true
  if (by.kind === 'address') return kind === 'address' && local === by.local
  return kind !== 'all' && local.startsWith(by.local)
}

/** The rule that decides: the first that matches. `rules` are in their order. */
export const deciding = <R extends Pick<RulePattern, 'kind' | 'local'>>(
  rules: readonly R[],
  local: string,
): R | undefined => rules.find((rule) => fitsLocal(rule, local))

/** An address as RCPT would have it, in lower case. Throws a 422 for a bad one. */
export function addressIn(given: string): { local: string; host: string } {
  const mailbox = parseMailbox(given.trim())
  if (mailbox === undefined) {
    throw new ApiError('validation_error', `"${given.slice(0, 320)}" is no address`, {
      status: 422,
      fields: { field: 'address' },
    })
  }
  const address = mailbox.address.toLowerCase()
  return { local: address.slice(0, address.lastIndexOf('@')), host: mailbox.domain }
}
