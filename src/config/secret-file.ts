import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, OperatorError } from '../errors/index.js'

/**
 * A secret that stands in no setting: of a file, else of the systemd credential of that name (systemd.exec(5),
 * LoadCredential=); undefined where there is neither. Throws an OperatorError where the file cannot be read; `what` names
 * the secret in it.
 */
export function secretOf(
  what: string,
  from: {
    file: string
    credential: string
    env: Readonly<Record<string, string | undefined>>
  },
): string | undefined {
  const { file, credential, env } = from
  const lines = (path: string) => readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  const credentials = env.CREDENTIALS_DIRECTORY
  try {
    if (file !== '') return lines(file)
    return credentials === undefined ? undefined : lines(join(credentials, credential))
  } catch (error) {
    // The service may have credentials for something else alone.
    if (file === '') return undefined
    throw new OperatorError(`Cannot read ${what}: ${messageOf(error)}`)
  }
}
