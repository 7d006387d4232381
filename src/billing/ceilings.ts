import { counted } from '../amounts/index.js'
import { settingName } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { Ceilings, Plans } from './plan.js'

interface Kind {
  one: string
  many?: string
  /** The rows that count. */
  from(
    read: Read,
    accountId: string,
  ): { limit(rows: 1): { offset(rows: number): { execute(): Promise<object[]> } } }
}

// Each count uses an index of the account, however many rows there are.
const kinds: Record<Exclude<keyof Ceilings, 'storedMib'>, Kind> = {
  topics: {
    one: 'topic',
    many: 'topics (archived ones count)',
    from: (read, accountId) =>
      read.selectFrom('topics').select('id').where('account_id', '=', accountId),
  },
  lists: {
    one: 'contact list',
    from: (read, accountId) =>
      read
        .selectFrom('contact_lists')
        .select('id')
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null),
  },
  keys: {
    one: 'API key',
    from: (read, accountId) =>
      read
        .selectFrom('api_keys')
        .select('id')
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null),
  },
  templates: {
    one: 'template',
    from: (read, accountId) =>
      read.selectFrom('templates').select('id').where('account_id', '=', accountId),
  },
  pictures: {
    one: 'picture',
    from: (read, accountId) =>
      read.selectFrom('pictures').select('id').where('account_id', '=', accountId),
  },
  webhookEndpoints: {
    one: 'webhook endpoint',
    from: (read, accountId) =>
      read
        .selectFrom('webhook_endpoints')
        .select('id')
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null),
  },
  automations: {
    one: 'automation',
    from: (read, accountId) =>
      read
        .selectFrom('automations')
        .select('id')
        .where('account_id', '=', accountId)
        .where('status', '<>', 'archived'),
  },
  domains: {
    one: 'domain',
    from: (read, accountId) =>
      read.selectFrom('domains').select('id').where('account_id', '=', accountId),
  },
  receivingRules: {
    one: 'rule for mail that comes in',
    many: 'rules for mail that comes in',
    from: (read, accountId) =>
      read.selectFrom('receiving_rules').select('id').where('account_id', '=', accountId),
  },
}

/**
 * Throws the 403 for one more of a kind of which the account has as many as it may. To be asked in the write that adds
 * it: where two add at once, only one may pass.
 */
export async function refuseBeyondCeiling(
  read: Read,
  { ceilings }: Pick<Plans, 'ceilings'>,
  accountId: string,
  kind: keyof typeof kinds,
): Promise<void> {
  const { one, many, from } = kinds[kind]
  const most = ceilings[kind]
  const beyond = await from(read, accountId)
    .limit(1)
    .offset(most - 1)
    .execute()
  if (beyond.length === 0) return
  throw new ApiError(
    'plan_limit_exceeded',
    `The account has ${counted(most, one, many)}, and may have no more; the operator can raise ${settingName(['ceilings', kind])}`,
  )
}
