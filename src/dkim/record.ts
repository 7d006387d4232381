import type { DkimAlgorithm } from './key.js'

/** The public half of a key, as it is published. */
export interface DkimPublicKey {
  algorithm: DkimAlgorithm
  publicKeyBase64: string
}

/** What a DKIM TXT record says, as far as a signer cares. */
export interface DkimRecord extends DkimPublicKey {
  /** `p=` is empty: the key has been revoked (RFC 6376 §3.6.1). */
  revoked: boolean
  /** `t=y`: verifiers treat the domain's mail as unsigned. */
  testing: boolean
}

/** The TXT value to publish at `<selector>._domainkey.<domain>` (RFC 6376 §3.6.1). */
export function dkimRecord({ algorithm, publicKeyBase64 }: DkimPublicKey): string {
  return `v=DKIM1; k=${keyTypes[algorithm]}; p=${publicKeyBase64}`
}

/**
 * Reads a TXT value (its strings joined). Undefined if no verifier would accept a signature of
 * ours under it: another version, key type, hash or service, or broken syntax.
 */
export function parseDkimRecord(txt: string): DkimRecord | undefined {
  const tags = parseTags(txt)
  if (tags === undefined) return undefined
  const version = tags.get('v')
  // RFC 6376 §3.6.1: `v=` may be absent, but if there it comes first.
  if (version !== undefined && (version !== 'DKIM1' || tags.keys().next().value !== 'v')) {
    return undefined
  }
  const keyType = tags.get('k') ?? 'rsa'
  const algorithm = algorithms.find((name) => keyTypes[name] === keyType)
  const publicKeyBase64 = tags.get('p')?.replace(/\s+/g, '')
  if (algorithm === undefined || publicKeyBase64 === undefined) return undefined
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(publicKeyBase64)) return undefined
  if (!allows(tags.get('h'), ['sha256']) || !allows(tags.get('s'), ['*', 'email'])) return undefined
  return {
    algorithm,
    publicKeyBase64,
    revoked: publicKeyBase64 === '',
    testing: listed(tags.get('t') ?? '').includes('y'),
  }
}

/** Whether a published TXT value lets verifiers check signatures of this key. */
export function publishesDkimKey(txt: string, key: DkimPublicKey): boolean {
  const record = parseDkimRecord(txt)
  return record?.algorithm === key.algorithm && record.publicKeyBase64 === key.publicKeyBase64
}

const algorithms = ['rsa-sha256', 'ed25519-sha256'] as const
const keyTypes = { 'rsa-sha256': 'rsa', 'ed25519-sha256': 'ed25519' } as const

/** RFC 6376 §3.2: `name=value` between semicolons; a name that comes twice spoils the whole list. */
function parseTags(txt: string): Map<string, string> | undefined {
  const tags = new Map<string, string>()
  for (const tag of txt.split(';')) {
    if (tag.trim() === '') continue
    const equals = tag.indexOf('=')
    const name = tag.slice(0, Math.max(equals, 0)).trim()
    if (!/^[A-Za-z]\w*$/.test(name) || tags.has(name)) return undefined
    tags.set(name, tag.slice(equals + 1).trim())
  }
  return tags
}

function allows(list: string | undefined, wanted: string[]): boolean {
  return list === undefined || listed(list).some((item) => wanted.includes(item))
}

function listed(list: string): string[] {
  return list.split(':').map((item) => item.trim())
}
