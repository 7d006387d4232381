import { type AccountBilling, checkSending } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import type { Rule } from '../rules/index.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { sameSegment, segmentOf } from './follow-up.js'
import { type MeasureDeps, requireOpensMeasured } from './measured.js'
import { ruleOfPeople } from './people-rule.js'
import type { Who } from './report-people.js'
import { nameOfPeople } from './who-words.js'
import type { WhomInput } from './whom.js'

/*
 * The people behind a number of one campaign's report as a part of another's audience. They are a segment, like those
 * that pages make of such a number: so they are kept up to date, have a name, and are a part of the audience like any
 * other.
 */

type AudienceParts = NonNullable<WhomInput['audience']>

/** How a request names these people. */
export interface AudienceOfReport extends AudienceParts {
  ofBroadcast?: string | undefined
  who?: Who | undefined
}

interface WithAudience {
  audience?: AudienceOfReport | undefined
}

interface People {
  broadcast: Broadcast
  rule: Rule
  who: Who
  /** The other parts of the audience. */
  rest: AudienceParts
}

/**
 * A request with those people as one of its segments, which is made where there is none. Throws a 400 for one of both
 * fields, for people of whom no segment can be made, and for opens that nobody could see; a 402 without a plan, a 404
 * for a missing campaign.
 */
export async function withPeopleOfReport<Input extends WithAudience>(
  deps: Pick<BroadcastDeps, 'store' | 'clock'> & MeasureDeps,
  billing: AccountBilling,
  input: Input,
): Promise<Input> {
  const { accountId } = billing
  const people = await peopleOfReport(deps, accountId, input)
  if (people === undefined) return input
  checkSending(billing, 'marketing')
  const { broadcast, rule, who, rest } = people
  const name = nameOfPeople(broadcast, { who })
  return withSegment(input, rest, await segmentOf(deps, accountId, { name, rule }))
}

/**
 * For a request that changes nothing: undefined where there is no such segment yet; then the rule tells who they are.
 */
export async function lookedAtPeople<Input extends WithAudience>(
  deps: MeasureDeps,
  accountId: string,
  input: Input,
): Promise<{ given: Input } | { rule: Rule; isAlone: boolean }> {
  const people = await peopleOfReport(deps, accountId, input)
  if (people === undefined) return { given: input }
  const { rule, rest } = people
  const known = await sameSegment(deps.store.read, accountId, rule)
  if (known !== undefined) return { given: withSegment(input, rest, known) }
  return { rule, isAlone: Object.values(rest).every((ids) => (ids ?? []).length === 0) }
}

const withSegment = <Input extends WithAudience>(
  input: Input,
  rest: AudienceParts,
  id: string,
): Input =>
  Object.assign({}, input, {
    audience: Object.assign({}, rest, { segments: [...(rest.segments ?? []), id] }),
  })

async function peopleOfReport(
  deps: MeasureDeps,
  accountId: string,
  { audience }: WithAudience,
): Promise<People | undefined> {
  const { ofBroadcast, who, ...rest } = audience ?? {}
  if (ofBroadcast === undefined && who === undefined) return undefined
  if (ofBroadcast === undefined || who === undefined) {
    throw new ApiError('validation_error', 'audience: "ofBroadcast" and "who" go together')
  }
  const broadcast = await findBroadcast(deps.store.read, accountId, ofBroadcast)
  if (broadcast.sent_at === null) {
    const message = `audience: nobody is "${who}" of a campaign that has not been sent yet`
    throw new ApiError('validation_error', message)
  }
  await requireOpensMeasured(deps, broadcast, { who })
  const rule = ruleOfPeople(broadcast, { who })
  if (rule === undefined) {
    throw new ApiError('validation_error', `audience: no segment can be made of who is "${who}"`)
  }
  return { broadcast, rule, who, rest }
}
