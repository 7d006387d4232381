import { checkOpen, readBilling } from '../../billing/index.js'
import { auditOf } from '../../contract/index.js'
import { oneOf, structOf, table } from '../../fields/index.js'
import * as operations from '../../topics/contract.js'
import { createTopic, findAnyTopic, moveTopic, updateTopic } from '../../topics/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import { refuseStale } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import type { TopicPageDeps } from './deps.js'
import { markOfTopic, showTopic } from './one.js'

/** The form of a new topic. */
interface NewTopicView {
  base: string
  accountId: string
  faults: Faults
}

const TopicForm = structOf(table(operations.given))
const MoveForm = structOf(table({ way: oneOf(['up', 'down'], 'Where to') }))

/** All that is done to topics. An account that has not paid may put in order what it has, and make none. */
export function changePages(pages: AccountPages, deps: TopicPageDeps): void {
  const showNew = async ({ account, base }: Visit, faults: Faults): Promise<PageAnswer> => {
    const view: NewTopicView = { base, accountId: account.id, faults }
    return page('topics/new', view, { title: 'New topic' })
  }
  pages.get('/topics/new', 'contacts.write', (visit) => showNew(visit, noFaults))
  const making = { action: 'contacts.write', form: TopicForm, again: showNew } as const
  pages.post('/topics/new', making, async ({ account, base, form }) => {
    checkOpen(await readBilling(deps.store.read, deps.plans, account.id))
    const { id, name } = await createTopic(deps, account.id, form)
    return redirect(`${base}/topics`, {
      flash: `The topic “${name}” is made`,
      audit: auditOf(operations.createTopic, { target: id }),
    })
  })

  const again = (visit: Visit, faults: Faults) => showTopic(deps, visit, faults)
  const changing = { action: 'contacts.write', form: TopicForm, again } as const
  pages.post('/topics/:id', changing, async ({ account, base, params, form, fields }) => {
    const { name, description = '' } = form
    const before = await findAnyTopic(deps.store.read, account.id, params.id ?? '')
    refuseStale(fields, markOfTopic(before))
    const { id } = await updateTopic(deps, account.id, params.id ?? '', { name, description })
    return redirect(`${base}/topics/${id}`, {
      flash: 'Saved',
      audit: auditOf(operations.updateTopic, { target: id }),
    })
  })
  pages.post(
    '/topics/:id/move',
    { action: 'contacts.write', form: MoveForm },
    async ({ account, base, params, form }) => {
      const { id, name, position } = await moveTopic(deps, account.id, params.id ?? '', form.way)
      return redirect(`${base}/topics`, {
        flash: `“${name}” is at place ${position + 1} now`,
        audit: auditOf(operations.updateTopic, { target: id, detail: { moved: form.way } }),
      })
    },
  )
  for (const archived of [true, false]) {
    const path = `/topics/:id/${archived ? 'archive' : 'restore'}`
    const { updateTopic: change, archiveTopic } = operations
    pages.post(path, { action: 'contacts.write', again }, async ({ account, base, params }) => {
      const topic = await updateTopic(deps, account.id, params.id ?? '', { archived })
      return redirect(`${base}/topics/${topic.id}`, {
        flash: `“${topic.name}” is ${archived ? 'archived; who has left it stays known' : 'restored'}`,
        audit: archived
          ? auditOf(archiveTopic, { target: topic.id })
          : auditOf(change, { target: topic.id, detail: { archived } }),
      })
    })
  }
}
