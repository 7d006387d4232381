import type { Principal } from '../accounts/index.js'
import { checkOpen, type Plans, readBilling } from '../billing/index.js'
import { shownMember } from '../contacts/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, reply } from '../http/index.js'
import { segmentAnswer } from './answers.js'
import * as operations from './contract.js'
import { countPeople } from './count.js'
import { mailedUnknown } from './mailed.js'
import { segmentMembers } from './members.js'
import { refuseUnknown } from './parts.js'
import {
  changeSegment,
  createSegment,
  deleteSegment,
  listSegments,
  type SegmentDeps,
  shownSegment,
  type UsesOfSegment,
} from './segment.js'

interface SegmentRouteDeps extends SegmentDeps {
  plans: Plans
  usesOf: UsesOfSegment
}

/** `/v1/segments`: saved rules about people, who matches them, and how many would match a rule. */
export function segmentRoutes(api: Api<Principal>, deps: SegmentRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.listSegments, async ({ account }) => ({
    segments: (await listSegments(read, account.accountId)).map(shownSegment),
  }))

  serve(api, operations.createSegment, async ({ account: { accountId }, body, remember }) => {
    checkOpen(await readBilling(read, deps.plans, accountId))
    const made = await createSegment(deps, accountId, body, (tx, segment) =>
      remember(tx, shownSegment(segment), 201),
    )
    return reply(201, shownSegment(made))
  })

  serve(api, operations.countSegment, async ({ account: { accountId }, body: { rule } }) => {
    await refuseUnknown(read, accountId, rule)
    const unknown = await mailedUnknown(read, rule)
    if (unknown !== undefined) throw new ApiError('validation_error', `rule: ${unknown}`)
    const { erased: _, ...counts } = await countPeople({ read, clock: deps.clock }, accountId, rule)
    return counts
  })

  serve(api, operations.getSegment, ({ account, params }) =>
    segmentAnswer(read, account.accountId, params.id, deps.usesOf),
  )

  serve(api, operations.changeSegment, async ({ account, params, body }) =>
    shownSegment(await changeSegment(deps, account.accountId, params.id, body)),
  )

  serve(api, operations.deleteSegment, async ({ account, params, note }) => {
    const { name } = await deleteSegment(deps, account.accountId, params.id)
    note({ detail: { name } })
    return { message: 'Segment deleted; its people stay' }
  })

  serve(api, operations.listSegmentMembers, async ({ account, params, query }) => {
    const { limit = usualPage, cursor } = query
    const page = await segmentMembers(read, account.accountId, params.id, { limit, cursor })
    const { members, nextCursor } = page
    return { contacts: members.map(shownMember), hasMore: nextCursor !== null, nextCursor }
  })
}
