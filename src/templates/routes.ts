import { optional, refine, type Struct, string, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { checkOpen, type Plans, readBilling } from '../billing/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { atLeastOne, QueryInteger, rule } from '../fields/index.js'
import { type Api, reply } from '../http/index.js'
import { isJsonObject } from '../json/index.js'
import { pageOf, type Store, textCursorOf, textInCursor } from '../store/index.js'
import { renderTemplate } from './render-template.js'
import type { Renderer } from './renderer.js'
import { changeTemplate, putTemplate, restoreVersion } from './save-template.js'
import {
  deleteTemplate,
  findTemplate,
  listTemplates,
  listVersions,
  type SaveOptions,
  type Template,
  type TemplateDraft,
} from './template.js'

export interface TemplateRouteDeps {
  store: Store
  clock: Clock
  plans: Plans
  renderer: Renderer
  /**
   * The automations whose next mails are made of the template, or will be of this version of it once that
   * is restored; of those that it may not be taken from, a 409.
   */
  usesOf: (accountId: string, slug: string, version?: number) => Promise<readonly object[]>
  refuseInUse: (accountId: string, slug: string) => Promise<void>
}

const usualPage = 100
const maxPage = 500

const Text = rule<string>('a string', (value) => typeof value === 'string')
const Variables = rule<Record<string, unknown>>('an object', isJsonObject)
const Version = QueryInteger(1, 999_999_999)
const TemplateParams = {
  params: type({ slug: string() }),
  notFound: 'The account has no template with this slug',
}
const VersionParams = {
  params: type({ slug: string(), version: Version }),
  notFound: 'The template has no version with this number',
}
const PageQuery = {
  query: type({ limit: optional(QueryInteger(1, maxPage)), cursor: optional(Text) }),
}
// What mails call `text` has another name here; without a word the template would have no text part.
const named = <T, S>(struct: Struct<T, S>) =>
  refine(
    struct,
    'name',
    (given) => !Object.hasOwn(Object(given), 'text') || 'Expected textBody in place of text',
  )
const TemplateBody = named(
  type({ slug: Text, subject: Text, html: Text, textBody: optional(Text) }),
)
const ChangesBody = named(
  atLeastOne(
    type({
      subject: optional(Text),
      html: optional(Text),
      textBody: optional(Text),
    }),
  ),
)
const RenderBody = type({
  variables: optional(Variables),
  subject: optional(Text),
  version: optional(
    rule<number>('a version', (value) => Number.isSafeInteger(value) && Number(value) > 0),
  ),
})

/** Templates by the API: each save is a version, and the newest is in use. */
export function templateRoutes(api: Api<Principal>, deps: TemplateRouteDeps): void {
  const { read } = deps.store
  const save = async (accountId: string, draft: TemplateDraft, options: SaveOptions) => {
    checkOpen(await readBilling(read, deps.plans, accountId))
    return shown(await putTemplate(deps, accountId, draft, options))
  }

  api.get('/v1/templates', PageQuery, async ({ account: { accountId }, query }) => {
    const { limit = usualPage, cursor } = query
    const scope = `templates ${accountId}`
    const after = cursor === undefined ? undefined : textInCursor(cursor, scope)
    const found = await listTemplates(read, accountId, { after, limit: limit + 1 })
    const { page, ...more } = pageOf(found, limit, ({ slug }) => textCursorOf(slug, scope))
    const templates = page.map(({ createdAt, savedAt, ...one }) => ({
      ...one,
      createdAt: isoTime(createdAt),
      savedAt: isoTime(savedAt),
    }))
    return { templates, ...more }
  })

  api.post('/v1/templates', { body: TemplateBody }, async ({ account, body, remember }) => {
    const { slug, subject, html, textBody } = body
    const saved = await save(
      account.accountId,
      { slug, subject, html, textBody },
      {
        isNew: true,
        alongside: (tx, template) => remember(tx, shown(template), 201),
      },
    )
    return reply(201, saved)
  })

  api.get('/v1/templates/:slug', TemplateParams, async ({ account, params }) =>
    shown(await findTemplate(read, account.accountId, params.slug)),
  )

  api.patch('/v1/templates/:slug', { ...TemplateParams, body: ChangesBody }, async (request) => {
    const {
      account: { accountId },
      params,
      body,
    } = request
    checkOpen(await readBilling(read, deps.plans, accountId))
    const { subject, html, textBody } = body
    const changes = { subject, html, textBody }
    const saved = shown(await changeTemplate(deps, accountId, params.slug, changes))
    return { ...saved, automations: await deps.usesOf(accountId, saved.slug) }
  })

  api.delete('/v1/templates/:slug', TemplateParams, async ({ account: { accountId }, params }) => {
    const { slug } = await findTemplate(read, accountId, params.slug)
    await deps.refuseInUse(accountId, slug)
    await deleteTemplate(deps, accountId, slug)
    return { slug, deleted: true, message: 'Template and its versions deleted' }
  })

  api.post(
    '/v1/templates/:slug/render',
    { ...TemplateParams, body: RenderBody },
    async (request) => {
      const {
        account,
        params,
        body: { variables = {}, subject, version },
      } = request
      const template = await findTemplate(read, account.accountId, params.slug, version)
      const input = { variables, subject, copyTags: 'shown' } as const
      return await renderTemplate(deps.renderer, template, input)
    },
  )

  versionRoutes(api, deps)
}

/** The versions of a template, and going back to one. */
function versionRoutes(api: Api<Principal>, deps: TemplateRouteDeps): void {
  const { read } = deps.store

  const versions = { ...TemplateParams, ...PageQuery }
  api.get('/v1/templates/:slug/versions', versions, async ({ account, params, query }) => {
    const { limit = usualPage, cursor } = query
    const scope = `versions ${account.accountId} ${params.slug}`
    const after = cursor === undefined ? undefined : Number(textInCursor(cursor, scope))
    const asked = { after, limit: limit + 1 }
    const found = await listVersions(read, account.accountId, params.slug, asked)
    const { page, ...more } = pageOf(found, limit, (last) => textCursorOf(`${last.version}`, scope))
    const versions = page.map((one) => ({ ...one, savedAt: isoTime(one.savedAt) }))
    return { versions, ...more }
  })

  api.get('/v1/templates/:slug/versions/:version', VersionParams, async ({ account, params }) =>
    shown(await findTemplate(read, account.accountId, params.slug, params.version)),
  )

  api.post(
    '/v1/templates/:slug/versions/:version/restore',
    VersionParams,
    async ({ account: { accountId }, params: { slug, version }, remember }) => {
      checkOpen(await readBilling(read, deps.plans, accountId))
      // Before the write, in which nothing is counted: so the answer is whole when it is kept.
      const automations = await deps.usesOf(accountId, slug, version)
      const answer = (restored: Template) => ({ ...shown(restored), automations })
      const restored = await restoreVersion(deps, accountId, slug, version, (tx, saved) =>
        remember(tx, answer(saved)),
      )
      return answer(restored)
    },
  )
}

const shown = ({ slug, version, subject, html, textBody, savedAt }: Template) => ({
  slug,
  version,
  subject,
  html,
  textBody,
  savedAt: isoTime(savedAt),
})
