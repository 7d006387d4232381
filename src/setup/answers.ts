import { isIP } from 'node:net'
import { canonicalAddress, isPublicAddress } from '../dns/index.js'
import { checkedName } from '../domains/index.js'
import { messageOf } from '../errors/index.js'

/** All that the operator decides at the first start; everything else has a default. */
export interface SetupAnswers {
  /** The name by which other servers know this machine (EHLO, PTR). */
  hostName: string
  /** The addresses from which the world sees our mail come; behind NAT no interface has any of them. */
  addresses: readonly string[]
  /** The first sending domain. */
  domain: string
  /**
   * The address that gets the appliance's alarms, and the mail to postmaster@ and abuse@. Empty only in the sandbox.
   */
  operator: string
  /** `acme`: Posthorn gets certificates and speaks TLS itself; `proxy`: another program does. */
  certificates: 'acme' | 'proxy'
  /** Receivers already know the addresses as senders of mail, so they need no warm-up. */
  isKnownSender: boolean
  route: 'direct' | 'sandbox'
}

/** An answer that was read, or a sentence about what is wrong with it. */
export type AnswerReading<T> = { value: T } | { problem: string }

/** The names of the answers that are typed in, and how each is read. A problem says what was expected. */
export const readAnswer = {
  hostName: (text: string) => readName(text, 'mail.example.com'),
  addresses: readAddresses,
  domain: (text: string) => readName(text, 'example.com'),
  operator: readOperator,
} as const satisfies Partial<Record<keyof SetupAnswers, (text: string) => AnswerReading<unknown>>>

/** A host name in lower case and A-labels. */
function readName(text: string, example: string): AnswerReading<string> {
  if (isIP(text.trim()) !== 0) {
    return { problem: `"${text.trim()}" is an address; a name is wanted, such as ${example}` }
  }
  try {
    return { value: checkedName(text) }
  } catch (error) {
    if (text.trim() === '') return { problem: `A name is wanted, such as ${example}` }
    return { problem: messageOf(error).replace('example.com', example) }
  }
}

/** IP addresses, separated by blanks or commas, each once. */
function readAddresses(text: string): AnswerReading<readonly string[]> {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  if (parts.length === 0) return { problem: 'An IP address is wanted, such as 192.0.2.25' }
  const wrong = parts.find((part) => isIP(part) === 0)
  if (wrong !== undefined) {
    return { problem: `"${wrong}" is not an IP address, such as 192.0.2.25 or 2001:db8::25` }
  }
  return { value: [...new Set(parts.map(canonicalAddress))] }
}

/** A mail address. */
function readOperator(text: string): AnswerReading<string> {
  const address = text.trim()
  const [local = '', domain = '', ...more] = address.split('@')
  const isAddress = /^[^\s@<>,"]{1,64}$/.test(local) && more.length === 0
  if (!isAddress || !('value' in readName(domain, ''))) {
    return { problem: `"${address}" is not a mail address, such as ann@example.org` }
  }
  return { value: address }
}

/** Addresses from which the world cannot see us, because they belong to a private network or to documentation. */
export const unseen = (addresses: readonly string[]): string[] =>
  addresses.filter((address) => !isPublicAddress(address))

/** The answers of a trial: nothing leaves the machine, so nobody has to be asked. */
export const sandboxAnswers: SetupAnswers = {
  hostName: 'localhost',
  addresses: ['127.0.0.1'],
  domain: 'example.test',
  operator: '',
  certificates: 'proxy',
  isKnownSender: false,
  route: 'sandbox',
}
