import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * For tests that need a program of the system:
 * `t.test('postfix takes it', { skip: missing('smtp-sink') }, …)`. Where a program is missing the
 * test is skipped by name; in CI it runs all the same and fails.
 */
export function missing(...programs: string[]): string | false {
  return process.env.CI === 'true' ? false : absent(...programs)
}

/** The same for programs that no machine has to have (an operator's own proxy): skipped in CI too. */
export function absent(...programs: string[]): string | false {
  // Debian keeps servers' programs outside an ordinary user's PATH.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const names = programs.filter(
    (program) => !folders.some((folder) => isExecutable(join(folder, program))),
  )
  return names.length > 0 && `not installed: ${names.join(', ')}`
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
