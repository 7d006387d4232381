import { OperatorError } from '../errors/index.js'
import { secretOf } from './secret-file.js'

/** RFC 8555 §7.3.4: the account elsewhere by which a directory knows us. */
export interface ExternalAccount {
  kid: string
  /** In base64url. */
  hmacKey: string
}

/**
 * The account of `[tls] eab_key_id` and its key; undefined: the directory wants none. Throws an OperatorError for one
 * without the other, and for a key that is no base64url.
 */
export function externalAccountOf(
  { eabKeyId: kid, eabKeyFile: file }: { eabKeyId: string; eabKeyFile: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): ExternalAccount | undefined {
  if (kid === '') return undefined
  const what = 'the key of tls.eab_key_id'
  const hmacKey = secretOf(what, { file, credential: 'acme-eab-key', env })?.trim()
  if (hmacKey === undefined) {
    throw new OperatorError(
      'tls.eab_key_id is set, and tls.eab_key_file names no file with its key',
    )
  }
  if (/^[A-Za-z0-9_-]{16,}={0,2}$/.test(hmacKey)) return { kid, hmacKey }
  throw new OperatorError(`${what} is not in base64url`)
}
