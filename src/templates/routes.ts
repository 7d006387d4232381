import type { Principal } from '../accounts/index.js'
import { checkOpen, type Plans, readBilling } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { serve, usualPage } from '../contract/index.js'
import { type Api, reply } from '../http/index.js'
import type { Store } from '../store/index.js'
import { deletedTemplate, shownTemplate, templatesAnswer, versionsAnswer } from './answers.js'
import * as operations from './contract.js'
import { renderTemplate } from './render-template.js'
import type { Renderer } from './renderer.js'
import { changeTemplate, putTemplate, restoreVersion } from './save-template.js'
import { deleteTemplate, findTemplate, type Template } from './template.js'

export interface TemplateRouteDeps {
  store: Store
  clock: Clock
  plans: Plans
  renderer: Renderer
  /**
   * The automations whose next mails are made from the template, or from this version of it once that is restored.
   * Throws a 409 where one of them would lose something that it needs.
   */
  usesOf: (accountId: string, slug: string, version?: number) => Promise<readonly object[]>
  refuseInUse: (accountId: string, slug: string) => Promise<void>
}

/** Templates by the API: each save is a version, and the newest is in use. */
export function templateRoutes(api: Api<Principal>, deps: TemplateRouteDeps): void {
  const { read } = deps.store
  const open = async (accountId: string) =>
    checkOpen(await readBilling(read, deps.plans, accountId))

  serve(api, operations.listTemplates, ({ account, query }) =>
    templatesAnswer(read, account.accountId, { ...query, limit: query.limit ?? usualPage }),
  )

  serve(api, operations.createTemplate, async ({ account: { accountId }, body, remember }) => {
    await open(accountId)
    const saved = await putTemplate(deps, accountId, body, {
      isNew: true,
      alongside: (tx, template) => remember(tx, shownTemplate(template), 201),
    })
    return reply(201, shownTemplate(saved))
  })

  serve(api, operations.getTemplate, async ({ account, params }) =>
    shownTemplate(await findTemplate(read, account.accountId, params.slug)),
  )

  serve(api, operations.updateTemplate, async ({ account: { accountId }, params, body }) => {
    await open(accountId)
    const saved = await changeTemplate(deps, accountId, params.slug, body)
    return { ...shownTemplate(saved), automations: await deps.usesOf(accountId, saved.slug) }
  })

  serve(api, operations.deleteTemplate, async ({ account: { accountId }, params }) => {
    const { slug } = await findTemplate(read, accountId, params.slug)
    await deps.refuseInUse(accountId, slug)
    await deleteTemplate(deps, accountId, slug)
    return deletedTemplate(slug)
  })

  serve(api, operations.renderTemplate, async ({ account, params, body }) => {
    const { variables = {}, subject, version } = body
    const template = await findTemplate(read, account.accountId, params.slug, version)
    return await renderTemplate(deps.renderer, template, { variables, subject, copyTags: 'shown' })
  })

  versionRoutes(api, deps, open)
}

/** The versions of a template, and going back to one. */
function versionRoutes(
  api: Api<Principal>,
  deps: TemplateRouteDeps,
  open: (accountId: string) => Promise<void>,
): void {
  const { read } = deps.store

  serve(api, operations.listTemplateVersions, ({ account, params, query }) =>
    versionsAnswer(read, account.accountId, params.slug, {
      ...query,
      limit: query.limit ?? usualPage,
    }),
  )

  serve(api, operations.getTemplateVersion, async ({ account, params }) =>
    shownTemplate(await findTemplate(read, account.accountId, params.slug, params.version)),
  )

  serve(api, operations.restoreTemplateVersion, async (request) => {
    const {
      account: { accountId },
      params: { slug, version },
      remember,
    } = request
    await open(accountId)
    // Read before the write, so that the answer is complete when it is kept.
    const automations = await deps.usesOf(accountId, slug, version)
    const answer = (restored: Template) => ({ ...shownTemplate(restored), automations })
    const restored = await restoreVersion(deps, accountId, slug, version, (tx, saved) =>
      remember(tx, answer(saved)),
    )
    return answer(restored)
  })
}
