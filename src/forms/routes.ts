import type { Principal } from '../accounts/index.js'
import { checkOpen, readBilling } from '../billing/index.js'
import { serve } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, reply } from '../http/index.js'
import type { Read } from '../store/index.js'
import { formAnswer, formsAnswer, shownForm } from './answers.js'
import * as operations from './contract.js'
import type { FormDeskDeps } from './deps.js'
import type { FormDesk } from './desk.js'
import { createForm, pageForm, resumeForm, type SignupForm, updateForm } from './form.js'
import { takeSubmission } from './submission.js'

export { type FormDesk, makeFormDesk } from './desk.js'
export { type FormPageDeps, formPages } from './pages.js'
export { sampleForm } from './sample.js'

/** What the routes need. */
export interface FormRouteDeps
  extends Pick<FormDeskDeps, 'store' | 'clock' | 'plans' | 'publicUrl'> {
  desk: FormDesk
}

/** `/v1/forms`: everything that is done with forms, and submissions of the account's own front ends. */
export function formRoutes(api: Api<Principal>, deps: FormRouteDeps): void {
  const { read } = deps.store
  const { publicUrl, clock } = deps
  const shown = () => ({ publicUrl, now: clock.now() })

  serve(api, operations.listForms, ({ account }) => formsAnswer(read, account.accountId, shown()))

  serve(api, operations.getForm, ({ account, params }) =>
    formAnswer(read, account.accountId, params.id, shown()),
  )

  serve(api, operations.createForm, async ({ account: { accountId }, body, remember }) => {
    checkOpen(await readBilling(read, deps.plans, accountId))
    const form = await createForm(deps, accountId, body, async (tx, made) =>
      remember(tx, await shownForm(tx, made, shown()), 201),
    )
    return reply(201, await shownForm(read, form, shown()))
  })

  serve(api, operations.updateForm, async ({ account, params, body }) => {
    const form = await updateForm(deps, account.accountId, params.id, body)
    return await shownForm(read, form, shown())
  })

  serve(api, operations.resumeForm, async ({ account, params }) => {
    const { id } = await pageForm(read, account.accountId, params.id)
    const form = await resumeForm(deps, account.accountId, id)
    return await shownForm(read, form, shown())
  })

  serve(api, operations.getFormWork, async ({ account, params }) =>
    deps.desk.work(await formInUse(read, account.accountId, params.id)),
  )

  serve(api, operations.submitForm, async ({ account, params, body }) => {
    const form = await formInUse(read, account.accountId, params.id)
    checkOpen(await readBilling(read, deps.plans, account.accountId))
    return reply(202, await takeSubmission(deps.desk, form, body, body.visitor))
  })
}

/** Throws a 404, also for an archived form. */
async function formInUse(read: Read, accountId: string, id: string): Promise<SignupForm> {
  const form = await pageForm(read, accountId, id)
  if (form.archivedAt === null) return form
  throw new ApiError('not_found', 'The account has no form with this id that is in use')
}
