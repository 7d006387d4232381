import { dayMs, isoDay, isoTime } from '../clock/index.js'
import type { Read } from '../store/index.js'
import type { Contact } from './contact.js'
import { engagementOf, shownEngagement } from './engagement.js'
import { type ContactList, listDays, requireList } from './list.js'
import { type Member, withReasons } from './members.js'
import { listsOfContacts, requireContact } from './one.js'
import { type MailCause, type MailVerdict, whyMail } from './why-mail.js'

/** A contact as the API and commands show it. */
export const shownMember = ({
  unsubscribedAt,
  createdAt,
  suppressed,
  erased: _,
  ...contact
}: Member) => ({
  ...contact,
  unsubscribed: unsubscribedAt !== null,
  unsubscribedAt: unsubscribedAt === null ? null : isoTime(unsubscribedAt),
  suppressed,
  createdAt: isoTime(createdAt),
})

/** The answer when a contact was deleted. */
export const deletedContact = (id: string) => ({ id, deleted: true, message: 'Contact deleted' })

/** How many days of a list are shown: 13 weeks. */
export const listedDays = 91

/** A list as the API and commands show it. */
export const shownList = ({ createdAt, ...list }: ContactList) => ({
  ...list,
  createdAt: isoTime(createdAt),
})

/** A list and its growth, the oldest day first. Throws a 404. */
export async function listAnswer(read: Read, accountId: string, id: string, now: number) {
  const list = await requireList(read, accountId, id)
  const days = await listDays(read, list.id, { days: listedDays, now })
  return {
    ...shownList(list),
    days: days.map(({ day, joined, gone }) => ({ day: isoDay(day * dayMs), joined, left: gone })),
  }
}

/** The answer when a list was deleted. */
export const deletedList = (id: string) => ({
  id,
  deleted: true,
  message: 'List and its contacts deleted',
})

/** A contact with its lists, and why it gets mail or does not. Throws a 404. */
export const contactAnswer = async (read: Read, accountId: string, id: string) =>
  answerFor(read, accountId, await requireContact(read, accountId, id))

/** The same of a contact that was just read or changed. */
export async function answerFor(read: Read, accountId: string, contact: Contact) {
  const { members } = await withReasons(read, accountId, [contact])
  const [member = { ...contact, suppressed: null, erased: false }] = members
  const lists = (await listsOfContacts(read, [contact.id])).get(contact.id) ?? []
  const { says, marketing, transactional, topics } = await whyMail(read, accountId, contact.email)
  return {
    ...shownMember(member),
    engagement: shownEngagement(await engagementOf(read, contact.id)),
    lists: lists.map(({ addedAt, ...list }) => ({ ...list, addedAt: isoTime(addedAt) })),
    mail: {
      says,
      marketing: shownVerdict(marketing),
      transactional: shownVerdict(transactional),
      topics: topics.map(({ id, name, ...verdict }) => ({ id, name, ...shownVerdict(verdict) })),
    },
  }
}

const shownVerdict = ({ gets, because }: MailVerdict) => ({
  gets,
  because: because.map(shownCause),
})

const shownCause = ({ at, until, ...cause }: MailCause) => ({
  ...cause,
  at: isoTime(at),
  until: isoTime(until),
})
