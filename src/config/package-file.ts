import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The path of a file of the installed package, wherever the compiled code lies in it. */
export function packageFile(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder)
    if (above === folder) throw new Error('No package.json above the compiled code')
    folder = above
  }
  return join(folder, name)
}

export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(packageFile('package.json'), 'utf8'),
  )
  return version
}
