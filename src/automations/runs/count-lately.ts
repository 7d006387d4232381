import { keepNewest } from '../../bounded/index.js'
import { isRecent } from '../../clock/index.js'

/** What was counted. `isAll`: all of it was; otherwise there are at least so many, or as many as lately. */
export interface LatelyCounted<T> {
  value: T
  isAll: boolean
}

/** Counts, and says now and then how much it has so far, and after how many rows. */
type Count<T> = (soFar: (value: T, rows: number) => void) => Promise<T>

// A long count is made anew at most this often: a page of an automation of a million runs is looked at again and again.
const countEveryMs = 5_000
const mostKept = 200

/**
 * For pages that show what may be very many. Fewer than `many` rows are counted for each page; a larger count of the
 * last seconds is told again. A count that is not done after `patience` rows goes on behind the page, which shows what
 * was known before, or the count so far.
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
    // A count that fails behind a page is made anew for the next page.
    all.finally(() => counting.delete(name)).catch(() => {})
    const value = await Promise.race([all, patient])
    if (value !== undefined) return { value, isAll: true }
    return { value: known?.value ?? least, isAll: known !== undefined }
  }
}
