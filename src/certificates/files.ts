import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../store/index.js'

/** The directory of the certificates that Posthorn got itself: 0700, each file in it 0600. */
export const certificatesDir = (dataDir: string) => join(dataDir, 'certificates')

/**
 * The private key and the certificate with its chain, PEM, in one file: they change together or not at all, and the
 * file serves both as the certificate's and as the key's. `name` is a host name in its canonical spelling.
 */
export function certificateFile(dataDir: string, name: string): string {
  // The name becomes part of a path, and some names come from customers.
  if (!isFileName(name)) throw new Error(`${JSON.stringify(name)} is not a host name`)
  return join(certificatesDir(dataDir), `${name}.pem`)
}

/** Whether a host name may name a file: no dot at its beginning, no slash anywhere. */
export const isFileName = (name: string) =>
  name.length <= 250 &&
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)

/** Puts a pair in its place: whenever the machine stops, either the old or the new one is there, whole. */
export function placeCertificate(dataDir: string, name: string, pair: CertificatePair): void {
  placePem(dataDir, name, pemOf(pair))
}

/** PEM. */
export interface CertificatePair {
  key: string
  chain: string
}

/** The content of a name's file. */
export const pemOf = ({ key, chain }: CertificatePair): string =>
  `${key.trimEnd()}\n${chain.trimEnd()}\n`

/** Puts the whole text of a name's file in its place. */
export function placePem(dataDir: string, name: string, pem: string): void {
  const file = certificateFile(dataDir, name)
  mkdirSync(certificatesDir(dataDir), { recursive: true, mode: 0o700 })
  writeDurably(file, pem, 0o600)
}

/** Removes a name's certificate with its key; a missing one is no error. */
export function removeCertificate(dataDir: string, name: string): void {
  rmSync(certificateFile(dataDir, name), { force: true })
}

/** RFC 8555 §8.3: base64url, of at least 128 bits. */
export const isToken = (text: string) => /^[\w-]{22,200}$/.test(text)
