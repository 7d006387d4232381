import { keepNewest } from '../../bounded/index.js'
import { isRecent } from '../../clock/index.js'

/** What was counted, and whether all was: else there are at least so many, or as many as lately. */
export interface LatelyCounted<T> {
  value: T
  isAll: boolean
}

/** Counts, and says now and then what it has so far, after how many rows. */
type Count<T> = (soFar: (value: T, rows: number) => void) => Promise<T>

// What took long is counted anew at most that often: a page of an automation of a million is looked at again and again.
const countEveryMs = 5_000
const mostKept = 200

/**
 * For pages that show what may be very many. What is fewer than `many` rows is counted for each; of more what was counted in
 * the last seconds is told again. What is not counted after `patience` rows goes on behind the page, which has what was known
 * before, or what is counted so far.
 */
export function makeCountLately<T>({ many, patience }: { many: number; patience: number }) {
  const lately = new Map<string, { at: number; value: T }>()
  const counting = new Set<string>()
  return async (
    name: string,
    { now, nothing }: { now: number; nothing: T },
    count: Count<T>,
  ): Promise<LatelyCounted<T>> => {
    const known = lately.get(name)
    if (known !== undefined && isRecent(known.at, now, countEveryMs)) {
      return { value: known.value, isAll: true }
    }
    if (counting.has(name)) return { value: known?.value ?? nothing, isAll: known !== undefined }
    let least = nothing
    let isMany = false
    let wait: () => void = () => {}
    const patient = new Promise<undefined>((resolve) => {
      wait = () => resolve(undefined)
    })
    counting.add(name)
    const all = count((value, rows) => {
      least = value
      isMany ||= rows >= many
      if (rows >= patience) wait()
    }).then((value) => {
      if (isMany) keepNewest(lately, name, { at: now, value }, mostKept)
      else lately.delete(name)
      return value
    })
    // What fails behind a page is counted anew for the next one.
    all.finally(() => counting.delete(name)).catch(() => {})
    const value = await Promise.race([all, patient])
    if (value !== undefined) return { value, isAll: true }
    return { value: known?.value ?? least, isAll: known !== undefined }
  }
}
