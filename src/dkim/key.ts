import { createPrivateKey, KeyObject } from 'node:crypto'

export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** A key ready to sign with; made once, since parsing PEM costs more than an RSA signature. */
export interface DkimKey {
  readonly domain: string
  readonly selector: string
  readonly algorithm: DkimAlgorithm
  readonly privateKey: KeyObject
}

// RFC 8301 §3.2: shorter keys must not be used; 2048 bits should be.
const minRsaBits = 1024
export const newRsaBits = 2048

const dnsName =
  /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/**
 * Opens a private key (PKCS#8 or PKCS#1 PEM, or a KeyObject). Throws TypeError if the key is not of the algorithm, is
 * RSA of under 1024 bits, or a name is not in lower-case A-labels.
 */
export function makeDkimKey(options: {
  domain: string
  selector: string
  algorithm: DkimAlgorithm
  privateKey: string | KeyObject
}): DkimKey {
  const { domain, selector, algorithm } = options
  for (const name of [domain, selector]) {
    if (!dnsName.test(name)) throw new TypeError(`Not a DNS name in A-labels: ${name}`)
  }
  const privateKey =
    options.privateKey instanceof KeyObject
      ? options.privateKey
      : createPrivateKey(options.privateKey)
  const type = algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'
  if (privateKey.type !== 'private' || privateKey.asymmetricKeyType !== type) {
    throw new TypeError(`Not a private key for ${algorithm}`)
  }
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0
  if (type === 'rsa' && bits < minRsaBits) {
    throw new TypeError(`RSA key of ${bits} bits; DKIM needs ${minRsaBits} at least`)
  }
  return { domain, selector, algorithm, privateKey }
}
