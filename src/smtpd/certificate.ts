import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageOf, OperatorError } from '../errors/index.js'

/** PEM, as a TLS server takes it. */
export interface Certificate {
  cert: Buffer
  key: Buffer
}

/** Reads what STARTTLS offers; undefined when no file is named. OperatorError when they are no use. */
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
