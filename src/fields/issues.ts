import { type Failure, Struct } from 'superstruct'
import type { Misfit } from './expectation.js'
import { expectationOf, type FaultCode, faultCodeOf } from './rule.js'
import { isSound } from './sound.js'
import { chosenStruct } from './variants.js'

/** One thing wrong with a request, as the contract shows it (`interface.md`, Body shapes). */
export interface Issue {
  code: string
  expected: string
  received: string
  path: string[]
  message: string
}

const maxIssues = 50
const maxMessage = 300
const maxPathPart = 100
const maxQuoted = 60
const secretField = /pass|secret|token|api_?key|authorization|credential/i
// Our own keys and secrets, which somebody may have put anywhere by mistake.
const secret = /\b(ph|whsec)_[\w-]{4,}/g

/** An issue with its parts. No answer of the API has the parts, as the contract fixes its shape. */
export interface PartedIssue extends Issue {
  misfit?: Misfit | undefined
  reason?: FaultCode | undefined
}

/** A body or query that does not have the shape that its route asks for; `message` tells all of it. */
export class ShapeError extends Error {
  readonly issues: Issue[]
  /** The issues in parts, for code that tells people. */
  readonly parted: readonly PartedIssue[]

  constructor(found: readonly PartedIssue[]) {
    super(found.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
    this.name = 'ShapeError'
    this.issues = found.map(({ misfit: _, reason: __, ...issue }) => issue)
    this.parted = found
  }
}

/**
 * Throws a `ShapeError` unless `value` has the shape. Leaves a null in an optional field out of the
 * result; otherwise copies nothing, unlike `convert`.
 */
export function check<T>(value: unknown, struct: Struct<T, unknown>): T {
  // A value that is sound as given has no null that would be left out.
  if (isSound(value, struct)) return value as T
  const given = withoutNulls(value, struct)
  try {
    const [error, valid] = struct.validate(given)
    if (error === undefined) return valid
  } catch {
    // superstruct prints the values that it refuses, and `{ "toString": 1 }` cannot be printed.
    throw new ShapeError(issuesOf(failuresIn(withoutPrinters(given), struct, [], [])))
  }
  throw new ShapeError(issuesOf(failuresIn(given, struct, [], [])))
}

/**
 * decisions.md, Errors: null in an optional field means absent, in nested objects and lists too. A
 * client's own data (`metadata`) have no fields here and stay unchanged.
 */
function withoutNulls(value: unknown, struct: { schema: unknown }): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { schema } = chosenStruct(struct, value)
  if (schema instanceof Struct) {
    return Array.isArray(value) ? mapped(value, (item) => withoutNulls(item, schema)) : value
  }
  if (Array.isArray(value) || typeof schema !== 'object' || schema === null) return value
  const given = value as Record<string, unknown>
  let copy: Record<string, unknown> | undefined
  for (const [name, field] of Object.entries(schema)) {
    if (!(field instanceof Struct) || !Object.hasOwn(given, name)) continue
    const one = given[name]
    const absent = one === null && field.is(undefined) && !field.is(null)
    const inner = absent ? undefined : withoutNulls(one, field)
    if (inner === one) continue
    copy ??= { ...given }
    if (absent) delete copy[name]
    else copy[name] = inner
  }
  return copy ?? given
}

/** The changed items, or the given array if nothing changes, as most have many items and no null. */
function mapped(items: unknown[], change: (item: unknown) => unknown): unknown[] {
  const changed = items.map(change)
  return changed.some((item, at) => item !== items[at]) ? changed : items
}

/** Checks strings from a path, a query or a form, which the struct may turn into other types. */
export function convert<T>(value: Record<string, unknown>, struct: Struct<T, unknown>): T {
  const [error, valid] = struct.validate(value, { coerce: true })
  if (error !== undefined) throw new ShapeError(issuesOf(error.failures()))
  return valid
}

function withoutPrinters(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one) =>
      key === 'toString' || key === 'valueOf' ? undefined : one,
    ),
  )
}

// superstruct's own `failures()` visits the whole value before it shows the first one: 100,000 bad
// items took 156 ms (stack.md D15). This walks the same structs and can stop after 50.
function* failuresIn<T>(
  value: unknown,
  struct: Struct<T, unknown>,
  path: unknown[],
  branch: unknown[],
): Generator<Failure> {
  const context = { path, branch }
  let typed = true
  for (const failure of struct.validator(value, context)) {
    typed = false
    yield failure
  }
  for (const [key, child, childStruct] of struct.entries(value, context)) {
    const childPath = key === undefined ? path : [...path, key]
    for (const failure of failuresIn(child, childStruct as Struct, childPath, branch)) {
      if (failure.refinement === undefined) typed = false
      yield failure
    }
  }
  // A rule between fields is told together with a fault in one of them, and not only at the next
  // request.
  const hasFields = struct.type === 'type' && typeof value === 'object' && value !== null
  if (typed || hasFields) yield* struct.refiner(value as T, context)
}

/** The first failure of each path, so that a union does not tell of every branch. */
function issuesOf(failures: Iterable<Failure>): PartedIssue[] {
  const issues = new Map<string, PartedIssue>()
  for (const failure of failures) {
    const issue = toIssue(failure)
    const key = JSON.stringify(issue.path)
    if (!issues.has(key)) issues.set(key, issue)
    if (issues.size === maxIssues) break
  }
  return [...issues.values()]
}

function toIssue(failure: Failure): PartedIssue {
  const missing = failure.value === undefined
  // The library's messages end in the whole value, which may be long or private.
  const expectation = failure.message.split(/,? but received/)[0]?.slice(0, maxMessage) ?? ''
  const path = failure.path.map((part) => String(part).slice(0, maxPathPart))
  return {
    code: codeOf(failure, missing),
    expected: typeNames[failure.type] ?? failure.type,
    received: kindOf(failure.value),
    path,
    message: shapeMessage(expectation, failure.value, path.at(-1)),
    misfit: misfitOf(failure),
    reason: faultCodeOf(failure),
  }
}

function misfitOf(failure: Failure): Misfit {
  const value: unknown = failure.value
  const isText = typeof value === 'string'
  return {
    wanted: expectationOf(failure),
    isMissing: value === undefined || (isText && value.trim() === ''),
    length: isText ? [...value.trim()].length : Array.isArray(value) ? value.length : undefined,
  }
}

/** A message without an expectation is already a sentence. */
function shapeMessage(expectation: string, value: unknown, field?: string): string {
  if (value === undefined) return `Required. ${expectation}`
  return /^Expected /.test(expectation)
    ? `${expectation}, but got ${quoted(value, field)}`
    : expectation
}

const typeNames: Record<string, string> = { type: 'object', record: 'object', enums: 'literal' }

function codeOf(failure: Failure, missing: boolean): string {
  if (failure.type === 'never') return 'unrecognized_key'
  if (missing) return 'required'
  return failure.refinement === undefined ? 'invalid_type' : `invalid_${failure.refinement}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/**
 * The given value, for a message that says what was expected: enough to find it, never a secret. At
 * most about 80 characters on one line; `field` is its field's name.
 */
function quoted(value: unknown, field = ''): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return `${value}`
  if (Array.isArray(value)) return `an array of ${counted(value.length, 'item')}`
  if (typeof value === 'object') {
    return `an object of ${counted(Object.keys(value).length, 'field')}`
  }
  if (typeof value !== 'string') return typeof value
  if (secretField.test(field)) return 'a text that is not shown'
  const shown = JSON.stringify(value.slice(0, maxQuoted).replace(secret, '$1_…').toWellFormed())
  return value.length > maxQuoted ? `${shown}… (${value.length} characters)` : shown
}

// Numbers in the API's messages have no commas, like those in its fields.
const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
