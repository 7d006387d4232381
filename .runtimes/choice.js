// Reads the pairs of Node and native packages (runtimes.json) for the commands in bin/.
import { existsSync, readFileSync } from 'node:fs'

export const pairs = JSON.parse(readFileSync(new URL('runtimes.json', import.meta.url), 'utf8'))

/** The name of the pair that takes the Node in use; undefined if none does. */
export function pairOfThisNode() {
  const [major, minor] = numbers(process.versions.node)
  return Object.keys(pairs).find((name) => {
    const [ofPair, least] = numbers(pairs[name].node.version)
    return major === ofPair && minor >= least
  })
}

/** The versions of Node that there is a pair for, as bin/setup.sh says them where Node is missing. */
export function nodesThatFit() {
  return Object.values(pairs)
    .map(({ node }) => numbers(node.version))
    .map(([major, minor]) => `${major}.${minor} or a later ${major}.x`)
    .join(', or ')
}

/**
 * Whether the packages below `top` are another pair's: their native parts would end the process
 * without a word. False where no packages lie below it.
 */
export function isOfAnotherPair(name, top) {
  if (!existsSync(new URL('node_modules/better-sqlite3', top))) return false
  return Object.keys(pairs[name].sha256[process.arch] ?? {}).some(
    (path) => path.startsWith('node_modules/') && !existsSync(new URL(path, top)),
  )
}

/** '24.21.0' as [24, 21, 0]. */
export function numbers(version) {
  return version.split('.').map(Number)
}
