import type { Page } from 'playwright-core'
import { systemClock as clock } from '../../../src/clock/index.js'
import { addContact, createList } from '../../../src/contacts/index.js'
import { suppress } from '../../../src/suppression/index.js'
import { createTask } from '../../../src/tasks/index.js'
import { createTopic, optOut } from '../../../src/topics/index.js'
import type { PlacePages } from '../every-page.js'

const long = 'a-very-long-label-that-nobody-would-choose-but-somebody-has'
const email = `${'first.last.'.repeat(5)}x@${long}.${long}.example.com`
const name = 'Wolfeschlegelsteinhausenbergerdorff'

/** Contacts with the longest that they may have, and why mail goes to them or not. */
export const place: PlacePages = {
  async fill({ store, accountId, ids }) {
    const deps = { store, clock }
    const lists = []
    for (const one of ['Readers', 'Staff', `${name} `.repeat(2)]) {
      lists.push((await createList(deps, accountId, one)).id)
    }
    const metadata = { town: 'Lagos', [`${long}_field`]: 'word '.repeat(60), tags: ['a', 'b'] }
    const fields = { firstName: name, lastName: `${name} the Third`, phone: '+2348031234567' }
    const note = {
      by: 'dashboard',
      note: `On the form at our shop, ${'said so '.repeat(40)}`,
    } as const
    for (const listId of lists) {
      const { contact } = await addContact(
        deps,
        accountId,
        { email, ...fields, metadata },
        { listId, ...note },
      )
      Object.assign(ids, { contact: contact.id, contactList: listId })
    }
    const fine = await addContact(
      deps,
      accountId,
      { email: 'ann@example.org', firstName: 'Ann' },
      {},
    )
    Object.assign(ids, { fineContact: fine.contact.id })
    for (let n = 10; n < 70; n++) {
      const one = { email: `reader.${n}@example.org`, firstName: 'Ann', lastName: 'Obi' }
      await addContact(deps, accountId, one, { listId: lists[0] })
    }
    const topic = await createTopic(deps, accountId, { name: 'News of the contacts' })
    await store.write(async (tx) => {
      await optOut(tx, accountId, { topicId: topic.id, address: email }, clock.now())
      const detail = `550 5.1.1 ${'no such user '.repeat(30)}`
      await suppress(tx, accountId, { email, reason: 'bounce', detail }, clock.now())
      await suppress(tx, accountId, { email, reason: 'unsubscribe', by: 'recipient' }, clock.now())
      const bounced = { email: 'reader.12@example.org', reason: 'complaint' } as const
      await suppress(tx, accountId, bounced, clock.now())
    })
    const task = { accountId, kind: 'bulk', state: 'paused', total: 1_200_000 } as const
    const detail = { order: { do: 'set', search: {}, metadata: { town: 'Lagos' }, by: 'api' } }
    const bulkTask = await store.write((tx) =>
      createTask(tx, { ...task, detail, startedBy: 'u' }, clock.now()),
    )
    const failed = {
      kind: 'erase',
      state: 'failed',
      detail: {
        name: 'erased-0f1e2d3c4b5a6978@erased.invalid',
        address: email,
        place: { in: 'audit' },
      },
    } as const
    const erasure = await store.write(async (tx) => {
      const id = await createTask(tx, { ...task, ...failed, total: 0, startedBy: 'u' }, clock.now())
      const end = { ended_at: clock.now(), result: '{"mails":12,"reason":"The disk was full"}' }
      await tx.updateTable('tasks').set(end).where('id', '=', id).execute()
      await tx.insertInto('erasure_mails').values({ task_id: id, email_id: 'x' }).execute()
      return id
    })
    Object.assign(ids, { bulkTask, erasure })
  },
  pages: ({ full, empty, ids }) => [
    { path: `${full}/contacts`, as: 'owner', name: 'contacts' },
    { path: `${full}/contacts`, as: 'viewer', name: 'contacts-viewer' },
    { path: `${empty}/contacts`, as: 'empty', name: 'contacts-empty' },
    {
      path: `${full}/contacts?list=${ids.contactList}&state=unsubscribed&q=first`,
      as: 'owner',
      name: 'contacts-found',
    },
    { path: `${full}/contacts?q=nobody`, as: 'owner', name: 'contacts-none' },
    ...['add', 'remove', 'set', 'unsubscribe', 'delete'].map((deed) => ({
      path: `${full}/contacts/fitting?q=reader&do=${deed}&target=${ids.contactList}`,
      as: 'owner' as const,
      name: `contacts-fitting-${deed}`,
    })),
    { path: `${full}/tasks/${ids.bulkTask}`, as: 'owner', name: 'contacts-task' },
    { path: `${full}/tasks/${ids.erasure}`, as: 'owner', name: 'contacts-erasure' },
    { path: `${full}/contacts/data`, as: 'owner', name: 'contacts-data' },
    {
      path: `${full}/contacts/data?email=${encodeURIComponent(email)}`,
      as: 'owner',
      name: 'contacts-data-one',
      open: openAll,
    },
    { path: `${full}/contacts?sort=newest`, as: 'owner', name: 'contacts-newest' },
    { path: `${full}/contacts/new`, as: 'owner', name: 'contacts-new' },
    { path: `${full}/contacts/${ids.contact}`, as: 'owner', name: 'contacts-one', open: openAll },
    { path: `${full}/contacts/${ids.contact}`, as: 'viewer', name: 'contacts-one-viewer' },
    { path: `${full}/contacts/${ids.fineContact}`, as: 'member', name: 'contacts-one-fine' },
    {
      path: `${full}/contacts/${ids.contact}`,
      as: 'outsider',
      status: 404,
      name: 'contacts-outsider',
    },
  ],
}

/** What is closed at first is looked at too. */
const openAll = async (page: Page) => {
  await page.evaluate(
    `document.querySelectorAll('main details').forEach((one) => { one.open = true })`,
  )
}
