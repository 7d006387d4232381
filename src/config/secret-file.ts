import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, OperatorError } from '../errors/index.js'

/**
 * A secret that no setting contains: from a file, or else from the systemd credential of that name (systemd.exec(5),
 * LoadCredential=); undefined where there is neither. Throws an OperatorError where the file cannot be read; `what` is
 * what messages call the secret.
 */
export function secretOf(
  what: string,
  from: {
    file: string
    credential: string
    env: Readonly<Record<string, string | undefined>>
  },
): string | undefined {
  const { file } = from
  const path = secretFileOf(from)
  try {
    return path === undefined ? undefined : readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    // The service may have credentials only for something else.
    if (file === '') return undefined
    throw new OperatorError(`Cannot read ${what}: ${messageOf(error)}`)
  }
}

/** Where `secretOf` looks. */
export function secretFileOf({
  file,
  credential,
  env,
}: Parameters<typeof secretOf>[1]): string | undefined {
  if (file !== '') return file
  const credentials = env.CREDENTIALS_DIRECTORY
  return credentials === undefined ? undefined : join(credentials, credential)
}
