import { array, optional, string, type } from 'superstruct'
import type { BroadcastChanges } from '../../broadcasts/index.js'
import { isoTime, timeOfLocal } from '../../clock/index.js'
import { checkedDocument, type TypedDocument } from '../blocks/form.js'

/** The form of a draft, as a browser sends it. */
export const CampaignForm = type({
  name: optional(string()),
  subject: optional(string()),
  previewText: optional(string()),
  from: string(),
  replyTo: optional(string()),
  html: optional(string()),
  lists: array(string()),
  segments: array(string()),
  withoutLists: array(string()),
  withoutSegments: array(string()),
  topicId: optional(string()),
  scheduledAt: optional(string()),
  revision: optional(string()),
  next: optional(string()),
})
export type CampaignForm = (typeof CampaignForm)['TYPE']

/**
 * What was sent, as the API takes it; the time was typed in the person's zone. Throws a `ShapeError` for what is wrong with
 * blocks.
 */
export function givenBy(form: CampaignForm, zone: string, document: TypedDocument | undefined) {
  const { scheduledAt = '' } = form
  const at = scheduledAt === '' ? undefined : timeOfLocal(scheduledAt, zone)
  return {
    name: form.name ?? '',
    subject: form.subject ?? '',
    previewText: form.previewText ?? '',
    from: form.from,
    replyTo: addressesIn(form.replyTo ?? ''),
    ...(document === undefined ? { html: form.html ?? '' } : { blocks: checkedDocument(document) }),
    audience: {
      lists: form.lists,
      segments: form.segments,
      withoutLists: form.withoutLists,
      withoutSegments: form.withoutSegments,
    },
    topicId: form.topicId ?? '',
    scheduledAt: at === undefined ? scheduledAt : isoTime(at),
  } satisfies BroadcastChanges
}

const addressesIn = (text: string) =>
  // A comma within quotes is a name's.
  (text.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+|"/g) ?? [])
    .map((address) => address.trim())
    .filter((address) => address !== '')
