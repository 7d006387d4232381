import { array, optional, string, type } from 'superstruct'
import * as operations from '../../broadcasts/contract.js'
import type { Broadcast, BroadcastChanges, BroadcastInput } from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import { check, structOf } from '../../fields/index.js'
import { checkedDocument, type TypedDocument } from '../blocks/form.js'
import { checkAll } from '../shell/faults.js'
import { typedMoment } from '../typed-moment.js'
import { paceFields, paceGiven } from './pace-part.js'

/** HTML of more characters is in no field: nobody reads it there, and each page would have it. */
export const mostShown = 300_000

/** The content may have 2 MiB, and a form's encoding makes up to three of each byte. */
export const maxBodyBytes = 8 * 1024 * 1024

/** What is kept while somebody writes is one entry in the log, and not one a pause for thought. */
export const oneWritingMs = 600_000

/** The form of a draft, as a browser sends it. */
export const CampaignForm = type({
  name: optional(string()),
  subject: optional(string()),
  previewText: optional(string()),
  from: string(),
  replyTo: optional(string()),
  html: optional(string()),
  /** There where an empty `html` leaves it as it is. */
  keepsHtml: optional(string()),
  lists: array(string()),
  segments: array(string()),
  withoutLists: array(string()),
  withoutSegments: array(string()),
  topicId: optional(string()),
  scheduledAt: optional(string()),
  ownTime: optional(string()),
  archive: optional(string()),
  ...paceFields,
  revision: optional(string()),
  /** The revision of somebody else that is written over. */
  over: optional(string()),
  /** Files come beside the fields. */
  file: optional(string()),
  /** The button that was pressed. */
  next: optional(string()),
})
export type CampaignForm = (typeof CampaignForm)['TYPE']

/**
 * What was sent, as the API takes it; the time was typed in the person's zone. Throws a `ShapeError` for what the API
 * would refuse.
 */
export function givenBy(
  form: CampaignForm,
  { zone, now, document, draft }: WrittenAt,
): BroadcastChanges & Pick<BroadcastInput, 'from' | 'subject'> {
  const { scheduledAt = '' } = form
  const before = draft?.scheduled_at ?? null
  // A local time may be two moments, and one that is over is no fault of who changes the subject.
  const isSameTime = before !== null && scheduledAt === localTime(before, zone)
  const { html = '', subject = '' } = form
  let when: string | undefined
  let pace: ReturnType<typeof paceGiven> = {}
  let blocks: ReturnType<typeof checkedDocument> | undefined
  const isKept = document !== undefined || (form.keepsHtml !== undefined && html === '')
  const written = isKept ? {} : { html }
  const given = {
    name: form.name ?? '',
    previewText: form.previewText ?? '',
    from: form.from,
    replyTo: replyIn(form.replyTo ?? ''),
    audience: {
      lists: form.lists,
      segments: form.segments,
      withoutLists: form.withoutLists,
      withoutSegments: form.withoutSegments,
    },
    topicId: form.topicId ?? '',
    localTimeOf: form.ownTime ? zone : '',
    archive: Boolean(form.archive),
  }
  // A draft may lack these two; what is there is checked as the API does.
  const shaped = { ...given, ...(html !== '' && written), ...(subject !== '' && { subject }) }
  checkAll([
    () => check(shaped, structOf(operations.draftChanges)),
    () => {
      if (document !== undefined) blocks = checkedDocument(document)
    },
    () => {
      pace = check(paceGiven(form, zone), structOf(operations.draftChanges))
    },
    () => {
      if (!isSameTime) {
        when = scheduledAt && typedMoment('scheduledAt', scheduledAt, { zone, now })
      }
    },
  ])
  const timed = when === undefined ? {} : { scheduledAt: when }
  return {
    ...given,
    ...pace,
    ...timed,
    ...(blocks !== undefined && { blocks }),
    ...written,
    subject,
  }
}

/** In which zone times were typed, the blocks if there are some, and the draft that it was typed over. */
export interface WrittenAt {
  zone: string
  now: number
  document: TypedDocument | undefined
  draft?: Broadcast | undefined
}

/** One address is no list, of which a fault would be told by its number. */
function replyIn(text: string): string | string[] {
  const all = addressesIn(text)
  return all.length === 1 ? (all[0] ?? '') : all
}

const addressesIn = (text: string) =>
  // A comma within quotes is a name's.
  (text.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+|"/g) ?? [])
    .map((address) => address.trim())
    .filter((address) => address !== '')
