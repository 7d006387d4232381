import { ApiError } from '../../errors/index.js'

/** A delivery's number as it stands in a path; throws a 404 for what is none. */
export function deliveryNumber(text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new ApiError('not_found', 'There is no such delivery of this webhook')
}
