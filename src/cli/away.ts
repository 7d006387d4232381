import { OperatorError } from '../errors/index.js'
import { type CommandPlace, databaseOf } from './place.js'

/** Whether a command failed because its database's server is away, or refuses this client. */
export async function isAway(place: CommandPlace, error: unknown): Promise<boolean> {
  if (databaseOf(place).url === undefined || !(error instanceof OperatorError)) return false
  const { isPassing } = await import('../store/index.js')
  return error.cause !== undefined && isPassing(error.cause)
}

/** The same error, which also says what happens to the appliance that runs on the data directory. */
export async function besideAppliance(place: CommandPlace, error: unknown): Promise<unknown> {
  if (!(error instanceof OperatorError) || !(await isAway(place, error))) return error
  const { isServed } = await import('../app/lock.js')
  if (!isServed(place.dataDir)) return error
  const { status, advice, cause } = error
  return new OperatorError(`${error.message}. ${runsOn}`, {
    status,
    ...(advice !== undefined && { advice }),
    cause,
  })
}

const runsOn =
  'The appliance runs meanwhile: it takes no mail, keeps what came of the mail it had in hand, and goes on by itself when the database is back'
