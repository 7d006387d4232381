import { counted } from '../amounts/index.js'
import { settingName } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { Ceilings, Plans } from './plan.js'

interface Kind {
  one: string
  many?: string
  /** Rows that count, from the one on that has `before` others before it. */
  from(read: Read, accountId: string, before: number): { execute(): Promise<object[]> }
}

// Each by an index of the account, however many there are.
const kinds: Record<Exclude<keyof Ceilings, 'storedMib'>, Kind> = {
  topics: {
    one: 'topic',
    many: 'topics (archived ones count)',
    from: (read, accountId, before) =>
      read
        .selectFrom('topics')
        .select('id')
        .where('account_id', '=', accountId)
        .limit(1)
        .offset(before),
  },
  lists: {
    one: 'contact list',
    from: (read, accountId, before) =>
      read
        .selectFrom('contact_lists')
        .select('id')
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null)
        .limit(1)
        .offset(before),
  },
  keys: {
    one: 'API key',
    from: (read, accountId, before) =>
      read
        .selectFrom('api_keys')
        .select('id')
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null)
        .limit(1)
        .offset(before),
  },
  templates: {
    one: 'template',
    from: (read, accountId, before) =>
      read
        .selectFrom('templates')
        .select('id')
        .where('account_id', '=', accountId)
        .limit(1)
        .offset(before),
  },
  webhookEndpoints: {
    one: 'webhook endpoint',
    from: (read, accountId, before) =>
      read
        .selectFrom('webhook_endpoints')
        .select('id')
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null)
        .limit(1)
        .offset(before),
  },
  automations: {
    one: 'automation',
    from: (read, accountId, before) =>
      read
        .selectFrom('automations')
        .select('id')
        .where('account_id', '=', accountId)
        .where('status', '<>', 'archived')
        .limit(1)
        .offset(before),
  },
  domains: {
    one: 'domain',
    from: (read, accountId, before) =>
      read
        .selectFrom('domains')
        .select('id')
        .where('account_id', '=', accountId)
        .limit(1)
        .offset(before),
  },
}

/**
 * Throws the 403 for one more of a kind of which the account has as many as it may. To be asked in the write that adds
 * it: of two who add at once only one may pass.
 */
export async function refuseBeyondCeiling(
  read: Read,
  { ceilings }: Pick<Plans, 'ceilings'>,
  accountId: string,
  kind: keyof typeof kinds,
): Promise<void> {
  const { one, many, from } = kinds[kind]
  const most = ceilings[kind]
  const beyond = await from(read, accountId, most - 1).execute()
  if (beyond.length === 0) return
  throw new ApiError(
    'plan_limit_exceeded',
    `The account has ${counted(most, one, many)}, and may have no more; the operator can raise ${settingName(['ceilings', kind])}`,
  )
}
