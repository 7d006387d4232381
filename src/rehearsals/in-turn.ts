import { makeInTurn } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import { type Rehearsal, rehearse } from './rehearse.js'

// A rehearsal takes up to two seconds of the API's own processor: one runs at a time, and the accounts take turns.
const mostWaiting = 3
const inTurn = makeInTurn(
  mostWaiting,
  () =>
    new ApiError(
      'rate_limit_exceeded',
      'Too many campaigns are being rehearsed; try again in a moment',
      { headers: { 'Retry-After': '10' } },
    ),
)

/** Rehearses for a program, which may ask as often as it likes. Throws a 429 where too many of the account wait. */
export const rehearseInTurn: typeof rehearse = (deps, accountId, ...rest): Promise<Rehearsal> =>
  inTurn(accountId, () => rehearse(deps, accountId, ...rest))
