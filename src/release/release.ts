import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { is, optional, string, type } from 'superstruct'
import { packageFile, packageVersion } from '../config/index.js'
import { OperatorError } from '../errors/index.js'

/** What a release tree says of itself in its `release.json`. */
export interface Release {
  /** The name of its folder: the version and the runtime, `0.2.0+node24`. */
  name: string
  version: string
  /** As `process.arch` has it: x64, arm64. */
  arch: string
  /** The oldest C library that its binaries run on; undefined where they were not made for one. */
  glibc?: string | undefined
}

const Shape = type({ name: string(), version: string(), arch: string(), glibc: optional(string()) })
// A name is a folder's, and comes from a file of others.
const goodName = /^\d+\.\d+\.\d+[A-Za-z0-9.+~-]{0,60}$/

/** Undefined where the folder is no release tree; OperatorError where it says nothing that is understood. */
export function readRelease(tree: string): Release | undefined {
  const file = join(tree, 'release.json')
  if (!existsSync(file)) return undefined
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new OperatorError(`${file} cannot be read`, { cause })
  }
  if (is(value, Shape) && goodName.test(value.name)) return value
  throw new OperatorError(`${file} does not say which release this is (name, version, arch)`)
}

/** The name of the release whose code this is; the version alone where it runs from a checkout. */
export function ownName(): string {
  return readRelease(join(packageFile('package.json'), '..'))?.name ?? packageVersion()
}
