import { ApiError, type Slip } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'

/**
 * Makes all checks before anything is refused: programs get the first refusal as if it stood alone, people get all of
 * them, each at its field.
 */
export interface Gathered {
  /**
   * Undefined where the check refuses. An error that is no fault of the given values is thrown, after faults found
   * earlier.
   */
  of<T>(field: string, check: () => T | Promise<T>): Promise<T | undefined>
  /** Throws the found faults. */
  refuse(): void
}

export function gathering(): Gathered {
  const found: { field: string; error: ApiError | ShapeError }[] = []
  const refuse = () => {
    const [first] = found
    if (first === undefined) return
    throw refusedWith(
      first.error,
      found.flatMap(({ field, error }) => slipsOf(field, error)),
    )
  }
  return {
    async of(field, check) {
      try {
        return await check()
      } catch (error) {
        if (!isOfGiven(error)) {
          refuse()
          throw error
        }
        found.push({ field, error })
        return undefined
      }
    },
    refuse,
  }
}

/** Whether the given values are wrong; a plan or a full machine may refuse good ones too. */
const isOfGiven = (error: unknown): error is ApiError | ShapeError =>
  error instanceof ShapeError ||
  (error instanceof ApiError && [400, 404, 409, 422].includes(error.status))

function slipsOf(field: string, error: ApiError | ShapeError): Slip[] {
  if (error instanceof ShapeError) {
    return error.parted.map(({ path, message }) => ({ field: path.join('.'), says: message }))
  }
  if (error.slips.length > 0) return [...error.slips]
  const named = error.fields.field
  return [{ field: typeof named === 'string' ? named : field, says: error.message }]
}

/** A single fault stays as it is, with its place; of several the first carries all. */
function refusedWith(first: ApiError | ShapeError, slips: readonly Slip[]): Error {
  if (first instanceof ShapeError) {
    const issues = slips.slice(first.parted.length).map(({ field, says: message }) => ({
      code: 'invalid' as const,
      path: field.split('.'),
      message,
      expected: '',
      received: '',
    }))
    return issues.length === 0 ? first : new ShapeError([...first.parted, ...issues])
  }
  const { code, message, status, fields, headers } = first
  return new ApiError(code, message, { status, fields, headers, slips })
}
