import type { Failure, Struct } from 'superstruct'

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

/** A body or query that does not have the shape that its route asks for. */
export class ShapeError extends Error {
  readonly issues: Issue[]

  constructor(issues: Issue[]) {
    super('The request does not have the expected shape')
    this.name = 'ShapeError'
    this.issues = issues
  }
}

/** Throws a `ShapeError` unless `value` has the shape; unlike `convert` it copies nothing. */
export function check<T>(value: unknown, struct: Struct<T, unknown>): T {
  try {
    const [error, valid] = struct.validate(value)
    if (error === undefined) return valid
  } catch {
    // superstruct prints what it refuses, and `{ "toString": 1 }` has no way of being printed.
    throw new ShapeError(issuesOf(failuresIn(withoutPrinters(value), struct, [], [])))
  }
  throw new ShapeError(issuesOf(failuresIn(value, struct, [], [])))
}

/** The same for strings from a path or a query, which the struct may turn into other types. */
export function convert<T>(value: Record<string, string>, struct: Struct<T, unknown>): T {
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
// items took 156 ms (stack.md D15). This walks the same structs and can be left after 50.
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
  if (typed) yield* struct.refiner(value as T, context)
}

/** The first failure of each path, so that a union does not tell about every branch of itself. */
function issuesOf(failures: Iterable<Failure>): Issue[] {
  const issues = new Map<string, Issue>()
  for (const failure of failures) {
    const issue = toIssue(failure)
    const key = JSON.stringify(issue.path)
    if (!issues.has(key)) issues.set(key, issue)
    if (issues.size === maxIssues) break
  }
  return [...issues.values()]
}

function toIssue(failure: Failure): Issue {
  const missing = failure.value === undefined
  // The library's messages end in the value, which may be long or private.
  const expectation = failure.message.split(/,? but received/)[0] ?? ''
  return {
    code: codeOf(failure, missing),
    expected: typeNames[failure.type] ?? failure.type,
    received: kindOf(failure.value),
    path: failure.path.map((part) => String(part).slice(0, maxPathPart)),
    message: `${missing ? 'Required. ' : ''}${expectation.slice(0, maxMessage)}`,
  }
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
