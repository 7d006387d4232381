import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { SMTPServer, SMTPServerOptions } from 'smtp-server'
import { messageOf, OperatorError } from '../errors/index.js'

/**
 * The certificate for the name that a client gave (SNI), or for none. It is the same object as long as it is the same
 * certificate. Undefined: there is none at all.
 */
export type CertificateFor = (serverName?: string) => Certificate | undefined

// As in smtp-server: between servers that ask for no name, TLS of any version is better than none (RFC 7435).
const terms = { minVersion: 'TLSv1' } as const

/** The options by which a client gets the certificate of the name that it asks for. */
export function sniOptions(certificateFor: CertificateFor): Pick<SMTPServerOptions, 'SNICallback'> {
  const contexts = new WeakMap<Certificate, SecureContext>()
  return {
    SNICallback(serverName, done) {
      const certificate = certificateFor(serverName)
      if (certificate === undefined) return done(null)
      const context = contexts.get(certificate) ?? createSecureContext({ ...terms, ...certificate })
      contexts.set(certificate, context)
      done(null, context)
    },
  }
}

/**
 * Offers new sessions the certificates of now. Without any certificate there is no STARTTLS, and TLS from the first
 * byte fails: smtp-server would show its built-in key, which everybody has.
 */
export function offerNow(server: SMTPServer, certificateFor: CertificateFor): void {
  const usual = certificateFor()
  const others = (server.options.disabledCommands ?? []).filter((name) => name !== 'STARTTLS')
  server.options.disabledCommands = usual === undefined ? [...others, 'STARTTLS'] : others
  const { cert, key } = usual ?? {}
  server.updateSecureContext({ cert, key })
}

/** PEM, in the form that a TLS server takes. */
export interface Certificate {
  cert: Buffer
  key: Buffer
}

/** Reads the certificate for STARTTLS; undefined when no file is named. OperatorError when the files are unusable. */
export function readCertificate(files: {
  certificate: string
  key: string
}): Certificate | undefined {
  if (files.certificate === '') return undefined
  try {
    const pair = { cert: readFileSync(files.certificate), key: readFileSync(files.key) }
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new OperatorError(
      `The certificate ${files.certificate} with the key ${files.key} cannot be used: ${messageOf(error)}`,
      { cause: error },
    )
  }
}
