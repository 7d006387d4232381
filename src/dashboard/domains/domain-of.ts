import { type Domain, findDomain } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import type { Store } from '../../store/index.js'
import type { Visit } from '../shell/visit.js'

/** The domain that the path names; a 404 also for a text that is no domain name. */
export async function domainOf(
  { store }: { store: Store },
  { account, params }: Pick<Visit, 'account' | 'params'>,
): Promise<Domain> {
  const { name = '' } = params
  try {
    return await findDomain(store.read, account.id, name)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError('not_found', 'The account has no such domain')
  }
}
