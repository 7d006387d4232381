import { X509Certificate } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { canonicalName } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type Certificate, readCertificate } from '../smtpd/index.js'
import { certificateFile, certificatesDir, isFileName } from './files.js'

/** Both may be the same file. */
export interface CertificateFiles {
  certificate: string
  key: string
}

/** A certificate that can be offered: its PEM, and what a listener needs to choose it. */
export interface HeldCertificate extends Certificate {
  source: 'file' | 'acme'
  files: CertificateFiles
  /** Host names in lower case; `*.example.com` may be one. */
  names: readonly string[]
  endsAt: number
}

/** What a TLS listener asks; all answers come from files on this machine, and nothing here waits. */
export interface Certificates {
  /**
   * The certificate for the name that a client gave (SNI). A pair of files for the name wins, then ACME's certificate
   * for it, then any certificate for others: the first pair of files, or that of the usual name. Undefined: there is
   * none at all.
   */
  forName(serverName?: string): HeldCertificate | undefined
  /** Whether there is a certificate for this very name. */
  isFor(serverName: string): boolean
  /** All certificates, for servers that must know every name beforehand. */
  all(): readonly HeldCertificate[]
  /** Calls when a `reload` has found another certificate; the returned function ends that. */
  onChange(listener: () => void): () => void
  /**
   * Looks again for new files. Files that are unusable or unreadable leave the earlier pair in its place, and are
   * reported. Never throws: its caller (SIGHUP, a timer) must not end because of it.
   */
  reload(): void
}

export interface CertificatesOptions {
  dataDir: string
  log: Log
  /** The operator's pairs, the usual one first; those without a name (`''`) are left out. */
  files: readonly CertificateFiles[]
  /** The name whose certificate clients get that give no name, or an unknown one. */
  usual: string
}

/** Reads the present files. OperatorError when a pair of the operator's is unusable. */
export function openCertificates(options: CertificatesOptions): Certificates {
  const { dataDir, log, usual } = options
  const listeners = new Set<() => void>()
  const pairs = options.files.filter(({ certificate }) => certificate !== '')
  // By their files: ACME never shares these with the operator.
  let held = new Map<string, Stamped>()
  const look = (isFirst: boolean) => {
    const found = new Map<string, Stamped>()
    for (const files of pairs) {
      take(found, { files, source: 'file' }, isFirst)
    }
    for (const name of namesNow()) {
      const file = certificateFile(dataDir, name)
      take(found, { files: { certificate: file, key: file }, source: 'acme' }, false)
    }
    const isNew =
      found.size !== held.size ||
      [...found].some(([file, { held: one }]) => held.get(file)?.held !== one)
    held = found
    return isNew
  }
  const namesNow = () => {
    try {
      return heldNames(dataDir)
    } catch (error) {
      log.error({ cause: messageOf(error) }, 'The certificates of ACME cannot be looked at')
      const known = [...held.values()].filter(({ held: { source } }) => source === 'acme')
      return known.map(({ held: { files } }) => basename(files.certificate, '.pem'))
    }
  }
  const take = (
    found: Map<string, Stamped>,
    { files, source }: Pick<HeldCertificate, 'files' | 'source'>,
    mustBeGood: boolean,
  ) => {
    const known = held.get(files.certificate)
    const stamp = stampOf(files)
    if (known?.stamp === stamp) return void found.set(files.certificate, known)
    try {
      found.set(files.certificate, { stamp, held: readHeld(files, source) })
    } catch (error) {
      if (mustBeGood) throw error
      // While a pair is written there may be half of it; the next look reads it again.
      if (known !== undefined) found.set(files.certificate, known)
      log.error({ cause: messageOf(error) }, 'A certificate is not used')
    }
  }
  look(true)

  const all = () => [...held.values()].map((one) => one.held)
  const ofName = (name: string) => all().find(({ names }) => names.some((one) => covers(one, name)))
  return {
    all,
    // A wildcard must not match what is no name: the result becomes an address.
    isFor: (serverName) =>
      isFileName(serverName.toLowerCase()) && ofName(canonicalName(serverName)) !== undefined,
    forName(serverName = usual) {
      const name = canonicalName(serverName)
      return ofName(name) ?? ofName(canonicalName(usual)) ?? all()[0]
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reload() {
      try {
        if (!look(false)) return
        for (const listener of listeners) listener()
      } catch (error) {
        log.error({ cause: messageOf(error) }, 'The certificates could not be read again')
      }
    },
  }
}

/** A stamp that tells, without reading files, whether they have changed since the last look. Never throws. */
export function stampOf({ certificate, key }: CertificateFiles): string {
  return [certificate, key]
    .map((file) => {
      try {
        const { mtimeMs, ino, size } = statSync(file)
        return `${mtimeMs} ${ino} ${size}`
      } catch (error) {
        // Missing, or in a folder that this user may not enter: whoever reads the file says so.
        return messageOf(error)
      }
    })
    .join()
}

/** The names that have a certificate from ACME. Throws when the folder exists and cannot be read. */
export function heldNames(dataDir: string): string[] {
  try {
    return readdirSync(certificatesDir(dataDir))
      .filter((file) => file.endsWith('.pem'))
      .map((file) => file.slice(0, -'.pem'.length))
      .filter(isFileName)
      .sort()
  } catch (error) {
    // No certificate has come yet. Any other error must not look like this: all names would be ordered again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function readHeld(files: CertificateFiles, source: HeldCertificate['source']): HeldCertificate {
  const pair = readCertificate(files)
  if (pair === undefined) throw new Error('No file of a certificate is named')
  const leaf = new X509Certificate(pair.cert)
  // The key is in the same file; the certificate that is handed out has none.
  const cert = Buffer.from(pair.cert.toString().replace(privateKeys, ''))
  const endsAt = Date.parse(leaf.validTo)
  return { cert, key: pair.key, source, files, names: namesOf(leaf), endsAt }
}

/** ACME's certificate for the name; undefined also where it cannot be read. */
export function heldOf(dataDir: string, name: string): HeldCertificate | undefined {
  const file = certificateFile(dataDir, name)
  try {
    return readHeld({ certificate: file, key: file }, 'acme')
  } catch {
    return undefined
  }
}

const privateKeys = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----\s*/g

interface Stamped {
  stamp: string
  held: HeldCertificate
}

/** RFC 6125 §6.4.4: the subject's common name counts where there is no alternative name. */
function namesOf({ subjectAltName, subject }: X509Certificate): string[] {
  const names = [...(subjectAltName ?? '').matchAll(/DNS:([^\s,"]+)/g)]
  const common = /^CN=(.+)$/m.exec(subject ?? '')
  return (names.length > 0 || common === null ? names : [common]).map(([, name = '']) =>
    canonicalName(name),
  )
}

/** RFC 6125 §6.4.3: a star stands for one label, the leftmost. */
const covers = (pattern: string, name: string) =>
  pattern === name || (pattern.startsWith('*.') && name.replace(/^[^.]+/, '*') === pattern)
