import {
  type DnsRecord,
  type Domain,
  type OldRecord,
  type RecordCheck,
  zoneFile,
} from '../domains/index.js'
import { say, sayFields, sayTable, shownTime, styled } from './output.js'

/** For `withHints`. */
export const unknownDomain = { not_found: "'posthorn domain add' adds it" }

/** The records to publish, as a table to read and as a zone file to paste. */
export function sayRecords(records: readonly DnsRecord[]): void {
  say('\nPublish these records:\n')
  sayTable(
    ['PURPOSE', 'NEEDED', 'TYPE', 'NAME', 'VALUE'],
    records.map(({ purpose, required, type, host, value }) => [
      purpose,
      required ? 'required' : 'advised',
      type,
      host,
      value,
    ]),
    'none',
  )
  say('\nThe same for a zone file:\n')
  // Not with `say`, which wraps lines: a zone file is pasted as it stands.
  process.stdout.write(zoneFile(records))
}

/** The records of keys that no longer sign, removable ones first. */
export function sayOldRecords(records: readonly OldRecord[]): void {
  if (records.length === 0) return
  say('\nOf keys before:\n')
  sayTable(
    ['NAME', 'MAY GO'],
    records.map(({ host, mayGo, mayGoAt }) => [host, mayGo ? 'now' : shownTime(mayGoAt)]),
    'none',
  )
}

/** `unknown` is yellow and not red: a DNS that gave no answer says nothing about the record. */
const marks = {
  ok: ['green', 'ok'],
  missing: ['red', 'missing'],
  different: ['yellow', 'different'],
  unknown: ['yellow', 'no answer'],
} as const

/** Per record what is wanted, what the DNS says and what to do, then the verdict. */
export function sayChecks(domain: Domain, records: readonly RecordCheck[]): void {
  for (const { purpose, required, type, host, value, state, found, advice } of records) {
    const [colour, mark] = marks[state]
    say(`${styled(colour, mark)}  ${purpose} (${required ? 'required' : 'advised'})`)
    sayFields({
      '  Name': `${host} ${type}`,
      '  Wanted': value,
      '  Found': found.join(' | ') || 'nothing',
      ...(advice === '' ? {} : { '  Advice': advice }),
    })
    say()
  }
  say(verdict(domain))
}

/**
 * Only the RSA key's record is required (RFC 6376 §3.6.2.1 finds the key there): without it
 * receivers could check no signature, and mail would begin with a bad reputation.
 */
function verdict({ name, status, trusted }: Domain): string {
  if (trusted) return `${name} counts as verified because you said so, whatever the DNS says.`
  if (status === 'verified') return `${name} is verified.`
  return `${name} is not verified yet: nothing is sent from it before the required record is there.`
}
